a = [1 0 2 0];
b = [1 1 0 0];
disp(mat2str(a & b));
disp(mat2str(a | b));
disp(mat2str(~a));
disp(mat2str(xor(a, b)));
disp(mat2str(a == b));
disp(mat2str(a ~= b));
disp(any(a) + all(b));
if 0 || ~isempty(a) && a(1) == 1, disp('yes'), end
