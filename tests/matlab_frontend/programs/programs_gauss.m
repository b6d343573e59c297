A = [2 1 -1; -3 -1 2; -2 1 2];
b = [8; -11; -3];
n = 3;
M = [A b];
for k = 1:n
  [~, p] = max(abs(M(k:n, k)));
  p = p + k - 1;
  M([k p], :) = M([p k], :);
  for r = k + 1:n
    M(r, :) = M(r, :) - M(r, k) / M(k, k) * M(k, :);
  end
end
x = zeros(n, 1);
for k = n:-1:1
  x(k) = (M(k, end) - M(k, k + 1:n) * x(k + 1:n)) / M(k, k);
end
fprintf('%.6f\n', x);
