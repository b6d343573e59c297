s = 0;
p = 1;
m = -Inf;
for x = [3 7 2 9 4]
  s = s + x;
  p = p * x;
  if x > m, m = x; end
end
fprintf('%d %d %d\n', s, p, m);
v = [];
for k = 1:3
  v = [v; k, k ^ 2];
end
disp(mat2str(v));
t = '';
for k = 'abc'
  t = [k t];
end
disp(t);
