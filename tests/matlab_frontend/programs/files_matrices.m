% readmatrix and writematrix.
name = [tempname '.csv'];
writematrix([1 2.123456789; 1/3 NaN], name)
disp(fileread(name))
disp(readmatrix(name))
f = fopen(name, 'w'); fprintf(f, 'time,speed\n0,1.5\n1,fast\n2,\n'); fclose(f);
m = readmatrix(name)
s = readmatrix(name, 'OutputType', 'string')
h = readmatrix(name, 'NumHeaderLines', 2)
r = readmatrix(name, 'Range', 'A2:A3')
writematrix([1 2; 3 4], name, 'Delimiter', 'tab')
disp(readmatrix(name))
writematrix([5 6], name, 'Delimiter', 'tab', 'WriteMode', 'append')
disp(readmatrix(name))
writematrix(["a" "b,c"; "d" "e"], name)
disp(fileread(name))
try, readmatrix('no_such_file.csv'), catch e, disp(e.identifier), disp(e.message), end
try, readmatrix(name, 'Sheet', 2), catch e, disp(e.identifier), disp(e.message), end
delete(name)
