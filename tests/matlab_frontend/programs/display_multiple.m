[a, b] = size(ones(2, 3))
x = 1, y = 2; z = 3
v(3) = 1
s.f = 2
c{2} = 'x'
v(1) = []
