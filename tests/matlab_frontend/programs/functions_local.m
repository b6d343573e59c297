fprintf('%d\n', square(5));
[a, b] = two(3);
fprintf('%d %d\n', a, b);
[~, b] = two(10);
disp(b);
fprintf('%d\n', fact(10));
function y = square(x)
  y = x ^ 2;
end
function [p, q] = two(x)
  p = x + 1;
  q = x * 2;
end
function r = fact(n)
  if n <= 1
    r = 1;
    return
  end
  r = n * fact(n - 1);
end
