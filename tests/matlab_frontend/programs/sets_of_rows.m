[found, where] = ismember([1 2; 3 4], [3 4; 5 6], 'rows');
disp(mat2str(found)), disp(mat2str(where))
disp(mat2str(intersect([1 2; 3 4], [3 4; 5 6], 'rows')))
disp(mat2str(union([3 4; 1 2], [3 4; 5 6], 'rows')))
disp(mat2str(setdiff([1 2; 3 4; 1 2], [3 4], 'rows')))
disp(mat2str(setdiff([5 4 3 3], 4, 'stable')))
disp(mat2str(union([3 1], [2 1], 'stable')))
[c, ia, ib] = intersect([9 3 7 3], [3 9 9]);
disp(mat2str(c)), disp(mat2str(ia')), disp(mat2str(ib'))
[c, ia, ib] = union([5 1], [1 7 7]);
disp(mat2str(c)), disp(mat2str(ia')), disp(mat2str(ib'))
[c, ia] = setdiff({'b', 'a', 'c'}, {'a'});
disp(c), disp(mat2str(ia'))
disp(mat2str(setxor([1 2 2], [2 3])))
disp(size(setdiff([1; 2; 3], [2 3])))
