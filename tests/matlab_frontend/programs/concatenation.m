a = [1 2];
b = [3; 4];
disp(mat2str([a; 5 6]));
disp(mat2str([a, 5]));
disp(mat2str([b [5; 6]]));
disp(mat2str([[] 1 2]));
disp(mat2str([a; []]));
disp(['abc', 'def']);
disp(mat2str(horzcat(1, 2, 3)));
disp(mat2str(vertcat(1, 2)));
disp(mat2str(cat(1, a, a)));
disp(mat2str([1 -1]));
disp(mat2str([1 - 1]));
disp(mat2str([a' a']));
disp(mat2str([1 2
3 4]));
disp(mat2str(size([zeros(2, 0), ones(2, 1)])));
try
  [1 2; 3];
catch
  disp('caught');
end
