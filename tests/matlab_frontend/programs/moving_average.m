x = [1 2 3 4 5 6];
k = 3;
y = conv(x, ones(1, k) / k, 'valid');
fprintf('%.4f ', y);
fprintf('\n');
c = cumsum([0 x]);
z = (c(k + 1:end) - c(1:end - k)) / k;
fprintf('%.4f ', z);
fprintf('\n');
