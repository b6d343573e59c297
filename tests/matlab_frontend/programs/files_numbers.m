% Numbers read from text files by formats.
name = [tempname '.txt'];
f = fopen(name, 'w');
fprintf(f, '%d %g\n', [1 2.5; 3 4.25; -5 1e3]');
fprintf(f, 'name: x = 7\n');
fclose(f);
f = fopen(name);
all = fscanf(f, '%f')
where = ftell(f)
rest = fgetl(f)
frewind(f);
[table, count] = fscanf(f, '%d %f', [2 2])
one = fscanf(f, '%f', 1)
two = fscanf(f, '%f', 1)
word = fscanf(f, '%s', 1)
value = fscanf(f, ' x = %d')
disp(feof(f))
nothing = fscanf(f, '%d')
fclose(f);
f = fopen(name, 'w'); fprintf(f, '%d\n', 1:2000); fclose(f);
f = fopen(name);
total = 0; n = 0;
while ~feof(f)
  x = fscanf(f, '%d', 1);
  if isempty(x), break, end
  total = total + x; n = n + 1;
end
disp([n total])
fclose(f);
delete(name)
