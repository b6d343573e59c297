w = 12; h = 6;
[X, Y] = meshgrid(linspace(-2, 1, w), linspace(-1, 1, h));
C = X + 1i * Y;
Z = zeros(size(C));
N = zeros(size(C));
for k = 1:20
  Z = Z .^ 2 + C;
  N = N + (abs(Z) <= 2);
  Z(abs(Z) > 2) = 2;
end
for r = 1:h
  fprintf('%2d ', N(r, :));
  fprintf('\n');
end
