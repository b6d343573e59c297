1;
function g = divisor(a, b)
  if b == 0
    g = a;
  else
    g = divisor(b, mod(a, b));
  end
end
s = 0;
for a = 1:200
  for b = 1:200
    s = s + divisor(a, b);
  end
end
fprintf('%d\n', s);
