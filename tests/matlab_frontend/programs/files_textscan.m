% textscan: columns by conversions.
C = textscan(sprintf('a,1,2.5\nb,2,\nc,3,7'), '%s %d %f', 'Delimiter', ',');
disp(C{1}), disp(C{2}'), disp(class(C{2})), disp(C{3}')
C = textscan('1 2 3 4 5 6', '%f %f'); disp(C{1}'), disp(C{2}')
C = textscan(sprintf('x y\n1 2\n3 4'), '%f %f', 'HeaderLines', 1, 'CollectOutput', true); disp(C{1})
C = textscan('1;2;;4', '%f', 'Delimiter', ';'); disp(C{1}')
C = textscan('t=5 t=7', 't=%f'); disp(C{1}')
C = textscan(sprintf('1,2\n%% note\n3,4\n'), '%f%f', 'Delimiter', ',', 'CommentStyle', '%'); disp([C{:}])
C = textscan('1 2 3 4', '%f', 2); disp(C{1}')
C = textscan('a 1 b 2', '%s %*d'); disp(C), disp(C{1}')
C = textscan('10:30 11:45', '%d:%d'); disp([C{:}])
C = textscan(sprintf('"x, y",2\nz,3'), '%q %f', 'Delimiter', ','); disp(C{1}'), disp(C{2}')
name = [tempname '.txt'];
f = fopen(name, 'w'); fprintf(f, 'h1 h2\n1 2\n3 4\nend\n'); fclose(f);
f = fopen(name);
heads = textscan(f, '%s %s', 1); disp(heads{1}), disp(heads{2})
data = textscan(f, '%f %f'); disp([data{:}])
disp(fgetl(f))
fclose(f);
delete(name)
