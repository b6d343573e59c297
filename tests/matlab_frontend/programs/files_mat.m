% Variables in MAT-files and in text.
name = [tempname '.mat'];
q = 3; z = [1+2i 3]; lg = [true false]; i8 = int8([1 2; 3 4]); ch = ['ab'; 'cd']; e = ''; n = [];
st.a = 'hi'; st.b = {1, 'x', {2}}; sa = struct('k', {1, 'two'}); sg = single(1.5); cube = ones(2, 2, 2);
save(name)
clear q z lg i8 ch e n st sa sg cube
load(name)
q, z, lg, i8, ch, e, n, st, sa, sg
disp(st.b), disp(sa(2).k), disp(size(cube)), disp(class(i8)), disp(class(e))
save(name, 'q', 'z')
S = load(name)
q = 4; w = 5;
save(name, 'q', 'w', '-append')
S = load(name);
disp(fieldnames(S)')
disp(S.q)
T = load(name, 'w')
opts.alpha = 1; opts.beta = 'b';
save(name, '-struct', 'opts')
disp(load(name))
save(name, '-struct', 'opts', 'beta')
disp(load(name))
delete(name)
m = [1 2.5; -3 1e6];
text_name = [tempname '.txt'];
save(text_name, 'm', '-ascii')
disp(fileread(text_name))
disp(load(text_name))
delete(text_name)
try, save(name, 'nothing_here'), catch err, disp(err.identifier), disp(err.message), end
try, load('no_such_file'), catch err, disp(err.identifier), disp(err.message), end
