% Made, shown and read
A = sparse([1 2 2], [1 2 1], [3 4 0.5])
W = sparse([1 10 10], [2 11 11], [1 2 3], 10, 12)
Z = sparse(2, 3)
I = speye(3)
A(1,1)
x = A(:,2)
[i, j, v] = find(A);
disp([i j v])
fprintf('%d %d %g\n', nnz(W), numel(W), sum(nonzeros(W)));
disp([issparse(A) issparse(full(A)) issparse(5) isnumeric(A) isreal(A) isempty(Z)])
disp(class(A > 1))
A > 1
% Diagonals
B = spdiags([1 2 3; 4 5 6; 7 8 9], [-1 0 1], 3, 3);
disp(full(B))
disp(full(spdiags([1 2; 3 4; 5 6], [-1 1], 3, 5)))
disp(full(spdiags([1 2; 3 4; 5 6], [0 2], 5, 3)))
[D, d] = spdiags(B);
disp(D), disp(d')
disp(full(spdiags([7; 7; 7], 0, B)))
disp(full(diag(B))'), disp(full(diag(sparse([1 0 2]), 1)))
% Operators
disp(issparse([B*B, B.*B, B', -B, B + B, B*2, B/2, B.^2, B ~= 0]))
disp([issparse(B + 1), issparse(B*ones(3)), issparse(B \ [1; 2; 3]), issparse(B .* ones(3))])
disp(full(B*B')), disp(B*[1; 1; 1])
r = full(B) \ [1; 2; 3] - B \ [1; 2; 3];
disp(max(abs(r)) < 1e-14)
disp(isequal(B^3, B*B*B)), disp(isequal(full(B), B)), disp(isequal(B, B'))
disp(full(kron(speye(2), sparse([1 2]))))
disp(full(sum(B))), disp(full(sum(B, 2))'), disp(full(sum(B(:))))
disp([norm(B, 1), norm(B, Inf), norm(B, 'fro')])
disp(full(triu(B, 1))), disp(full(abs(-B)))
% Parts
C = B; C(2, 2) = 100; C(4, 4) = 1; C(1, :) = 0; C(:, 3) = [];
disp(full(C)), disp(nnz(C))
C(C > 50) = 7; disp(full(C))
disp(full([C; 1 2 3])), disp(issparse([C, ones(4, 1)]))
disp(full(B(2:3, [1 3]))), disp(full(B(:))'), disp(full(B(B > 4))')
F = zeros(2); F(1, :) = A(2, :); disp(F)
if A(1, 1) == 3, disp('three'), end
disp(full(reshape(B, 1, 9)))
S = sparse(3, 3); for k = 1:3, S(k, k) = k; end, disp(full(S*S))
disp(full(A(2, 1) + 1)), disp(sqrt(A(2, 2)))
% Errors
calls = {@() B*ones(2), @() B(4, 1), @() sparse([1 2], [1 2 3], 1), @() sparse({1}), @() B + {1}, ...
  @() sparse(0, 1, 1), @() sparse(3, 1, 1, 2, 2), @() norm(B), @() B \ ones(2, 1), @() [B; 1 2], ...
  @() B{1}, @() B.x, @() speye(2, 2, 2), @() spdiags(1, [0 1], 3, 3), @() sparse(1.5, 1, 1)};
for k = 1:numel(calls)
  try, calls{k}(); disp('no error'), catch e, fprintf('%s\n', e.identifier); end
end
