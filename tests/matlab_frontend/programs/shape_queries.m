A = rand(3, 4, 2);
disp(numel(A));
disp(ndims(A));
disp(mat2str(size(A)));
disp(size(A, 3));
disp(size(A, 5));
[r, c] = size(A);
fprintf('%d %d\n', r, c);
[r, c, p] = size(A);
fprintf('%d %d %d\n', r, c, p);
disp(length(A));
disp(isempty(zeros(0, 3)));
disp(isequal(size(A), [3 4 2]));
disp(columns_of([1 2 3; 4 5 6]));
function n = columns_of(x), n = size(x, 2); end
