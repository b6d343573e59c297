f = @(t, y) -2 * y + t;
h = 0.1;
y = 1;
t = 0;
for k = 1:10
  k1 = f(t, y);
  k2 = f(t + h / 2, y + h / 2 * k1);
  k3 = f(t + h / 2, y + h / 2 * k2);
  k4 = f(t + h, y + h * k3);
  y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  t = t + h;
end
fprintf('%.8f\n', y);
