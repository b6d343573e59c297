r = [1 2 3];
c = [10; 20];
disp(mat2str(r + c));
disp(mat2str(r .* c));
disp(mat2str(c - r));
disp(mat2str(r > c / 10));
disp(mat2str(size(ones(2, 1, 3) + ones(1, 4))));
