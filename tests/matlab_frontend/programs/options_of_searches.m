o = optimset('TolX', 1e-10, 'TolFun', 1e-10, 'MaxIter', 1000, 'MaxFunEvals', 1000);
[x, f, flag] = fzero(@(x) x^2 - 2, [0 2], o); fprintf('%.10f %d\n', x, flag);
[x, f] = fminsearch(@(v) (v(1) - 1)^2 + (v(2) + 2)^2, [0 0], o); fprintf('%.4f %.4f\n', x);
fprintf('%.3f\n', fminbnd(@(x) (x - 1)^2, 0, 3)); disp(optimget(o, 'TolX')), disp(optimget(o, 'Display', 'off'))
