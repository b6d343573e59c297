X = reshape(1:24, 2, 3, 4);
disp(mat2str(size(sum(X, 3))));
disp(mat2str(squeeze(sum(sum(X, 1), 2))'));
disp(mat2str(size(mean(X))));
disp(mat2str(max(X(:))));
disp(mat2str(size(max(X, [], 3))));
disp(sum(sum(sum(X))));
disp(mat2str(sum(X(:, :, 1), 2)'));
