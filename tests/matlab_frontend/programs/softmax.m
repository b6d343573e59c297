x = [1 2 3; 1 1 1];
e = exp(x - max(x, [], 2));
y = e ./ sum(e, 2);
fprintf('%.6f %.6f %.6f\n', y');
[~, k] = max(y, [], 2);
disp(mat2str(k'));
