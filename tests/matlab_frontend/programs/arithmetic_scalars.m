fprintf('%g\n', 1 + 2 * 3 - 4 / 2);
fprintf('%g\n', 2^-1, -2^2, 2^3^2, -3^2);
fprintf('%g\n', 7 \ 14, 1e3 / 4, .5 + 3.);
fprintf('%g\n', mod(-7, 3), rem(-7, 3), mod(5, 0), mod(5.5, 2), mod(-1, 3));
fprintf('%g\n', 1 / 0, -1 / 0, 0 / 0);
