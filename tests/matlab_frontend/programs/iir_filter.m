x = [1 0 0 0 0 0];
y = zeros(size(x));
b = [0.2 0.3];
a = [1 -0.5];
for n = 1:numel(x)
  y(n) = b(1) * x(n);
  if n > 1
    y(n) = y(n) + b(2) * x(n - 1) - a(2) * y(n - 1);
  end
end
fprintf('%.6f ', y);
fprintf('\n');
fprintf('%.6f ', filter(b, a, x));
fprintf('\n');
