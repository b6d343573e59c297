mu = 0.1;
x = sin((1:40) / 3);
d = 0.5 * x + 0.25 * [0 x(1:end - 1)];
w = zeros(1, 2);
for n = 2:40
  u = x(n:-1:n - 1);
  e = d(n) - w * u';
  w = w + mu * e * u;
end
fprintf('%.6f %.6f\n', w);
