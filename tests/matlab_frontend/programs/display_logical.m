t = true
f = [true false; false true]
g = 3 > 2
h = [1 2 3] > 2
