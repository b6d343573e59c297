% Normalized least mean squares over columns, and a power iteration.
p = 64; C = 256; W = zeros(p, C, 'single'); rid = (0:p-1)'; cid = 0:C-1; A = zeros(80); x = ones(80, 1);
for k = 1:80, A(:, k) = cos((1:80)'*k/7); end
A = A*A';
for t = 1:3000
  X = single(mod(1664525*(rid*C + cid + t*p*C) + 1013904223, 4294967296)/4294967296);
  d = sum(X.*X, 1); e = d - sum(X.*W, 1);
  W = W + single(0.5)*(X.*repmat(e./(d + single(1e-3)), p, 1));
  y = A*x; x = y/norm(y);
end
fprintf('%.5f %.8f\n', mean(double(W(:))), x'*A*x);
