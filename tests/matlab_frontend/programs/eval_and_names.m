eval('x = 3 + 4;');
disp(x);
eval('bad syntax here (', 'disp(''recovered'')');
name = 'y';
eval([name ' = 2;']);
disp(y);
f = str2func('@(t) t * 3');
disp(f(5));
g = str2func('max');
disp(g([1 7 3]));
disp(exist('x'));
clear x
disp(exist('x'));
disp(isvarname('a1'));
