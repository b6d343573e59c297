f = @(x) x^3 - 2*x - 5; df = @(x) 3*x^2 - 2;
s = 0;
for k = 1:20000
  x = 2 + mod(k,7)/10;
  for it = 1:20
    d = f(x)/df(x);
    x = x - d;
    if abs(d) < 1e-12, break, end
  end
  s = s + x;
end
fprintf('%.10f\n', s);
