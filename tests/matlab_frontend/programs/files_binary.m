% Bytes: fread and fwrite in the classes, orders and sizes.
name = tempname;
f = fopen(name, 'w');
disp(fwrite(f, [1 2; 3 4]))
disp(fwrite(f, [300 -1 2.5 NaN], 'uint8'))
disp(fwrite(f, [1 256 -3], 'int16'))
disp(fwrite(f, [pi; -0.5], 'double'))
disp(fwrite(f, 7, 'uint32', 0, 'b'))
fclose(f);
f = fopen(name);
bytes = fread(f, 8)'
shorts = fread(f, [1 3], 'int16')
doubles = fread(f, 2, 'double')
word = fread(f, 1, '*uint32', 0, 'ieee-be')
disp(class(word))
[none, count] = fread(f, 2)
disp(feof(f))
frewind(f);
pairs = fread(f, [2 2], 'uint8=>uint8')
class(pairs)
frewind(f);
odd = fread(f, 4, 'uint8', 1)'
frewind(f);
filled = fread(f, [3 Inf], '*uint8')
fclose(f);
f = fopen(name, 'w', 'b'); fwrite(f, 1:3, 'uint16'); fclose(f);
f = fopen(name); disp(fread(f)'), frewind(f); disp(fread(f, Inf, 'uint16', 0, 'b')'), fclose(f);
f = fopen(name, 'w'); fwrite(f, 'text'); fclose(f);
f = fopen(name); t = fread(f, '*char')', fclose(f);
f = fopen(name); t = char(fread(f)'), fclose(f);
delete(name)
