best = 0;
where = 0;
for n = 1:100
  k = n;
  len = 1;
  while k ~= 1
    if mod(k, 2), k = 3 * k + 1; else, k = k / 2; end
    len = len + 1;
  end
  if len > best
    best = len;
    where = n;
  end
end
fprintf('%d %d\n', where, best);
