% Folders: making, listing, changing and removing them.
start = pwd;
top = tempname;
mkdir(top)
disp(exist(top, 'dir'))
cd(top)
[~, here] = fileparts(pwd); [~, wanted] = fileparts(top);
disp(strcmp(here, wanted))
[ok, message] = mkdir('inner'); disp(ok)
[ok, message] = mkdir('inner'); disp(message)
f = fopen('b.txt', 'w'); fprintf(f, 'abc'); fclose(f);
f = fopen('a.txt', 'w'); fclose(f);
disp(exist('a.txt', 'file')), disp(exist('inner')), disp(isfile('a.txt')), disp(isfolder('inner'))
d = dir('*.txt');
disp(size(d)), disp({d.name}), disp([d.bytes]), disp([d.isdir])
d = dir; disp({d.name})
copyfile('b.txt', fullfile('inner', 'c.txt'))
movefile('a.txt', 'moved.txt')
disp({dir('inner').name})
disp(fileread(fullfile('inner', 'c.txt')))
[ok, message, id] = rmdir('inner'); disp(ok)
delete('*.txt')
disp(numel(dir('*.txt')))
rmdir('inner', 's')
disp(exist('inner'))
cd(start)
rmdir(top)
disp(exist(top))
try, cd('no such folder'), catch e, disp(e.identifier), end
disp(exist('sin')), disp(exist('no_such_name')), x = 1; disp(exist('x'))
setenv('A_TEST_X', 'value'); disp(getenv('A_TEST_X')), disp(isempty(getenv('NO_SUCH_NAME')))
[status, output] = system('echo hello')
[status, output] = system('exit 3')
