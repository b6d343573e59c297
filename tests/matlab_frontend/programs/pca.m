X = [2.5 2.4; 0.5 0.7; 2.2 2.9; 1.9 2.2; 3.1 3.0];
m = mean(X);
Y = X - m;
C = (Y' * Y) / (size(X, 1) - 1);
[V, D] = eig(C);
[d, k] = sort(diag(D), 'descend');
fprintf('%.6f\n', d);
fprintf('%.4f\n', d(1) / sum(d));
