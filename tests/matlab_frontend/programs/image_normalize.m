B = 2; H = 4; W = 4;
imgs = single(reshape(1:B * H * W, B, H, W)) / 32;
mu = mean(imgs, [2 3], 'native');
sigma = sqrt(mean((imgs - mu) .^ 2, [2 3], 'native') + single(1e-6));
out = (imgs - mu) ./ sigma;
disp(mat2str(size(mu)));
disp(class(out));
fprintf('%.4f\n', max(out(:)), mean(out, 'all') < 1e-5);
