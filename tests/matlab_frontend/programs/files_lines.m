% Lines of a text file: written, read in each of the ways, and the position in it.
name = [tempname '.txt'];
f = fopen(name, 'w');
disp(f >= 3)
fprintf(f, 'first line\n');
fprintf(f, '%d,%d\n', [1 2; 3 4]);
count = fprintf(f, 'last')
disp(fclose(f))
disp(fileread(name))
f = fopen(name);
while ~feof(f)
  disp(fgetl(f))
end
disp(feof(f))
disp(fgetl(f))
frewind(f);
disp(feof(f))
line = fgets(f);
disp(double(line(end)))
disp(ftell(f))
part = fgets(f, 2)
disp(fseek(f, -4, 'eof'))
rest = fgetl(f)
disp([fseek(f, 3, 'bof') fseek(f, 2, 'cof') ftell(f)])
disp(fseek(f, 1000, 'bof'))
disp(ftell(f))
fclose(f);
f = fopen(name, 'a'); fprintf(f, ' word\n'); fclose(f);
f = fopen(name, 'r+'); fprintf(f, 'F'); fclose(f);
disp(fileread(name))
f = fopen(name, 'r');
lines = {};
line = fgetl(f);
while ischar(line)
  lines{end+1} = line;
  line = fgetl(f);
end
fclose(f);
disp(numel(lines))
disp(lines{end})
f = fopen(name, 'w'); fclose(f);
f = fopen(name); disp(feof(f)), disp(fgetl(f)), disp(feof(f)), fclose(f);
delete(name)
[f, message] = fopen(name, 'r')
disp(exist(name, 'file'))
