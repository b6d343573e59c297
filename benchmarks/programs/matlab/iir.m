% iir(x, steps)
y = zeros(1, size(x, 2), 'single');
for t = 1:steps
  y = 0.98 * y + 0.02 * x(t, :);
end
result = mean(y);
