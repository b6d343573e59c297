fprintf('%.6f\n', interp1([0 1 2], [0 1 4], [0.5 1.5]));
fprintf('%.4f\n', interp1([0 1 2 3], [0 1 8 27], 1.5, 'spline'));
fprintf('%g\n', interp1([1 2 3], [4 5 6], 5));
fprintf('%.6f\n', integral(@(x) x .^ 2, 0, 3));
fprintf('%.4f\n', trapz(0:0.5:2, [0 0.25 1 2.25 4]));
x = fminsearch(@(p) (p(1) - 1) ^ 2 + (p(2) + 2) ^ 2, [0 0]);
fprintf('%.2f\n', x);
