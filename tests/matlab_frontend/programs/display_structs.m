s.a = 1;
s.name = 'Bob';
s.v = [1 2 3];
s.m = [1 2; 3 4];
s.c = {1, 2};
s
t = struct('x', {1, 2})
u = struct()
s.inner.deep = 1;
s.inner
