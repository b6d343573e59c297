c = {1, 'two', [1 2 3]}
d = {1; 'text'}
e = {[1 2; 3 4], {1}, @sin}
f = cell(2, 2)
g = {true, int8(3), 1.5}
