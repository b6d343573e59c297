1;
function r = power_of(x, n)
  if n == 0
    r = 1;
  elseif mod(n, 2) == 0
    h = power_of(x, n/2);
    r = h*h;
  else
    r = x*power_of(x, n - 1);
  end
end
s = 0;
for k = 1:10000
  s = s + power_of(1.0001, k);
end
fprintf('%.8g\n', s);
