1;
function r = ackermann(m, n)
  if m == 0
    r = n + 1;
  elseif n == 0
    r = ackermann(m - 1, 1);
  else
    r = ackermann(m - 1, ackermann(m, n - 1));
  end
end
s = 0;
for n = 1:60
  s = s + ackermann(2, n);
end
fprintf('%d\n', s);
