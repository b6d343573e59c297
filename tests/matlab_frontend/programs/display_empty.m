a = []
b = zeros(0, 3)
c = zeros(1, 0)
d = ''
e = {}
f = zeros(3, 0)
g = ""
