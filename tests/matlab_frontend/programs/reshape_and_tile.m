A = reshape(1:6, 2, 3);
disp(mat2str(A'));
disp(repmat('ab', 1, 2));
disp(mat2str(repmat(A, 1, 2)));
disp(mat2str(size(repmat(A, [1 1 2]))));
disp(mat2str(flipud(A)));
disp(mat2str(fliplr(A)));
disp(mat2str(rot90(A, 2)));
disp(mat2str(circshift(A, 1, 2)));
disp(mat2str(vertcat(A, A(1, :))));
disp(mat2str(horzcat(A, [7; 8])));
disp(mat2str(permute(A, [2 1])));
disp(mat2str(kron(eye(2), [1 1])));
disp(mat2str(diag([1 2 3], 1)));
disp(mat2str(toeplitz([1 2 3])));
disp(mat2str(vander([1 2 3])));
disp(mat2str(blkrow(A)));
function r = blkrow(A), r = A(:)'; end
