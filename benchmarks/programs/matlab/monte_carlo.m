% monte_carlo(normals, paths, steps)
dt = 1 / 252;
drift = (0.05 - 0.5 * 0.2^2) * dt; scale = 0.2 * sqrt(dt);
prices = single(100) * ones(1, paths, 'single');
for step = 1:steps
  prices = prices .* exp(drift + scale * normals(step, :));
end
result = mean(max(prices - 100, 0)) * exp(-0.05 * steps * dt);
