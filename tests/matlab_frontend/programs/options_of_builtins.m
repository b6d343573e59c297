A = logical([0 1 1;1 0 1;1 1 0]); disp(A^3), disp(class(A^2)), disp(A^0), disp(A^-1)
disp(histc([1;2;2;5], 1:5)), disp(histc([1 2 2 5], (1:5)')), disp(size(histc([1 2;2 3], 1:3)))
disp(dot([1 2;3 4], [1 2;3 4], 2)), disp(dot(ones(2,2,3), ones(2,2,3), 3)), disp(size(dot(ones(1,2,3), ones(1,2,3))))
try, dot(ones(2,3), ones(3,2)), catch e, disp(e.identifier), end
format long g, x = [pi; 1e5], y = 1e-10, z = 0.1 + 2i
format short g, x, y, w = [1 2 3]
format short
disp(size(regexp('aaa', 'a*?', 'match'))), disp(regexprep('aaa', 'a*?', 'x')), disp(regexp('<a><b>', '<.*?>', 'match'))
disp(regexprep('aXbX', 'X', 'y', 'once')), disp(regexprep('abc', '(?=b)', '-', 'emptymatch'))
Q = []; Q(1,:,:) = magic(3); disp(size(Q)), disp(squeeze(Q(1,:,:)))
for i = 1:2, R(i,:,:) = magic(3) * i; end, disp(size(R)), disp(R(2,3,1))
S = []; S(:,:,2) = [1 2;3 4]; disp(size(S))
T = zeros(0,3); T(1,:) = 1:3; disp(T)
q = strings(0,1), disp(size(q)), disp(q)
disp(str2num(['1 2';'3 4']))
[AA, BB, QQ, ZZ] = qz([1 2;3 4], [5 6;7 8]); disp(norm(QQ*[1 2;3 4]*ZZ - AA) + norm(QQ*[5 6;7 8]*ZZ - BB) < 1e-10)
disp(rowfun(@(a, b) a + b, table([1;2], [3;4]), 'OutputFormat', 'uniform'))
disp(numel(polyfit([1 2], [1 2], 3)))
disp(class(dot(single([1.5 2.5]), [1 2]))), disp(class(dot(single([1 2;3 4]), [1 2;3 4]))), disp(mod(uint8([200;100;7]), -2)'), disp(mod(int8([5 -5]), -3))
disp(size(accumarray([3 1 2], 1))), disp(accumarray([1 2 1]', [10 20 30]')')
