% nlms(x, steps): x is steps x taps x filters
[n, taps, filters] = size(x);
weights = zeros(1, taps, filters, 'single');
for t = 1:steps
  now = x(t, :, :);
  wanted = sum(now .* now, 2);
  err = wanted - sum(now .* weights, 2);
  weights = weights + 0.5 * (now .* (err ./ (wanted + 1e-3)));
end
final = wanted - sum(now .* weights, 2);
result = mean(final.^2, 'all');
