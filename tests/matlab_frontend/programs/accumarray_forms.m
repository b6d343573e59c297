disp(accumarray([1; 2; 1], [5; 6; 7], [4 1], @(x) numel(x), -1)')
disp(accumarray([1; 3], [2; 4], [], [], NaN)')
disp(accumarray({[1; 2], [1; 3]}, [7; 8]))
c = accumarray([1; 2; 1], [5; 6; 4], [], @(x) {sort(x)});
disp(class(c)), disp(mat2str(c{1})), disp(isempty(c{2}))
disp(accumarray([1; 2; 1], [-5; 6; -7], [3 1], @max)')
disp(accumarray([2; 2; 1], int8([100; 100; 1]), [], @max)')
disp(accumarray([1 1 1; 2 1 2], [3; 4]))
try, accumarray([0; 1], 1), catch e, disp(e.identifier), end
