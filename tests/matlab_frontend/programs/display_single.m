a = single(3.14159)
b = single([1 2 3])
c = single([1.5 2.5; 3 4])
