1;
function c = steps(n)
  if n == 1
    c = 0;
  elseif mod(n, 2) == 0
    c = 1 + steps(n/2);
  else
    c = 1 + steps(3*n + 1);
  end
end
best = 0;
for k = 1:5000
  c = steps(k);
  if c > best
    best = c; at = k;
  end
end
fprintf('%d %d\n', best, at);
