3 + 4
'text';
ans
[1 2 3];
ans(2)
max([4 9 2])
