f = @(x) exp(-x .^ 2);
n = 100;
x = linspace(0, 1, n + 1);
h = 1 / n;
simpson = h / 3 * (f(x(1)) + 4 * sum(f(x(2:2:end - 1))) + 2 * sum(f(x(3:2:end - 2))) + f(x(end)));
fprintf('%.8f\n', simpson);
