format long
x = pi
y = [pi; 1]
z = 1 / 3
w = single(pi)
v = 100.5
u = 5
format short
x
