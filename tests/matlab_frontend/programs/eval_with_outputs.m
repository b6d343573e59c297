x = eval('1 + 1'); disp(x)
[m, k] = eval('max([3 9 4])'); disp([m k])
y = eval('nonsense(', '7'); disp(y)
s = evalc('disp(5), a = 3'); disp(strrep(s, char(10), '|')), disp(a)
try, z = eval('b = 3;'); catch e, disp('no expression'), end
