best = 0; arg = 0;
for n = 1:20000
  k = n; c = 0;
  while k ~= 1
    if mod(k,2) == 0
      k = k/2;
    else
      k = 3*k+1;
    end
    c = c + 1;
  end
  if c > best
    best = c; arg = n;
  end
end
fprintf('%d %d\n', best, arg);
