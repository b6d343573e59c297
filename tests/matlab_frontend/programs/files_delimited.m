% Matrices in text files.
name = [tempname '.csv'];
x = [1 2.123456789; -3 4e10];
csvwrite(name, x);
disp(fileread(name))
disp(csvread(name))
dlmwrite(name, x, ';');
disp(fileread(name))
dlmwrite(name, x, 'delimiter', '\t', 'precision', '%.2f');
disp(strrep(fileread(name), sprintf('\t'), '<tab>'))
dlmwrite(name, 1:3);
dlmwrite(name, [4 5 6], '-append');
disp(fileread(name))
disp(dlmread(name))
disp(dlmread(name, ',', 1, 1))
disp(dlmread(name, ',', [0 1 1 1]))
dlmwrite(name, 9, ',', 1, 2);
disp(fileread(name))
f = fopen(name, 'w'); fprintf(f, '1,2,3\n4,,6\n7\n'); fclose(f);
disp(csvread(name))
f = fopen(name, 'w'); fprintf(f, '1 2\n3   4\n'); fclose(f);
disp(dlmread(name))
f = fopen(name, 'w'); fprintf(f, '1;2\n3;4\n'); fclose(f);
disp(dlmread(name))
delete(name)
