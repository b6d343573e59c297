f = @(x) x ^ 3 - x - 2;
a = 1;
b = 2;
while b - a > 1e-10
  m = (a + b) / 2;
  if sign(f(m)) == sign(f(a))
    a = m;
  else
    b = m;
  end
end
fprintf('%.8f\n', a);
