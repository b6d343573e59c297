% pca(a, q, iterations)
centered = a - mean(a, 1);
g = centered' * centered / (size(a, 1) - 1);
for k = 1:iterations
  [q, r] = qr(g * q, 0);
end
result = diag(q' * g * q) / trace(g);
