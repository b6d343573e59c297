% image_4k(x)
m = mean(x, [2 3]);
sigma = sqrt(mean((x - m).^2, [2 3]) + 1e-6);
out = max((x - m) ./ sigma * 1.0123 - 0.02, 0) .^ 1.8;
err = mean((out - x).^2, 'all');
