% Errors of files have identifiers.
calls = {'fclose(99)', 'fgetl(99)', 'fprintf(99, ''x'')', 'fopen(''x'', ''q'')', 'feof(''x'')', ...
  'fread(99)', 'fseek(99, 0)', 'fileread(''no_such_file'')', 'csvread(''no_such_file'')', ...
  'load(''no_such_file.mat'')', 'save(''x'', ''no_such_name'')', 'cd(''no_such_folder'')', ...
  'textscan(''1'', ''%y'')', 'textscan(''1'', ''%f'', ''What'', 1)', 'jsondecode(''['')', ...
  'jsonencode(@sin)', 'jsonencode(1+2i)', 'fopen(''x'', ''r'', ''z'')', 'exist(''x'', ''y'')', 'exist(''x'', 1)', ...
  'dlmread(''no_such_file'')', 'setenv(''a=b'', ''c'')'};
for k = 1:numel(calls)
  try
    eval([calls{k} ';'])
    disp(['no error: ' calls{k}])
  catch e
    disp([calls{k} '   ' e.identifier])
  end
end
name = tempname;
f = fopen(name, 'w'); disp(fread(f)'), disp(ferror(f)), fclose(f);
f = fopen(name, 'r'); disp(fwrite(f, 1)), disp(ferror(f)), fclose(f);
f = fopen(name, 'w'); fprintf(f, '1,x\n'); fclose(f);
f = fopen(name); try, fscanf(f, '%d', 'all'), catch e, disp(e.identifier), end, fclose(f);
try, csvread(name), catch e, disp(e.identifier), end
f = fopen(name, 'w'); fprintf(f, '1 2\n3\n'); fclose(f);
try, load(name, '-ascii'), catch e, disp(e.identifier), end
delete(name)
