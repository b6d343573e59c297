f = @(x) x ^ 3 - 2 * x - 5;
df = @(x) 3 * x ^ 2 - 2;
x = 2;
for k = 1:20
  step = f(x) / df(x);
  x = x - step;
  if abs(step) < 1e-12, break, end
end
fprintf('%.10f after %d\n', x, k);
