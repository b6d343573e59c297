[d, n, e] = fileparts('/a/b/file.txt'); fprintf('%s|%s|%s\n', d, n, e);
[d, n, e] = fileparts('file'); fprintf('%s|%s|%s\n', d, n, e);
disp(fullfile('a', 'b', 'c.m')), disp(fullfile('a/', 'b'))
