x = single(0.1);
fprintf('%.10f\n', x);
fprintf('%.10f\n', x + 0.2);
disp(class(x * 2));
disp(class(sum(single([1 2 3]))));
disp(class([single(1) 2]));
fprintf('%g\n', eps('single'), double(single(pi)) - pi > 0);
