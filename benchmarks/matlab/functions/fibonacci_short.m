1;
function r = fib(n)
  if n < 2
    r = n;
  else
    r = fib(n-1) + fib(n-2);
  end
end
fprintf('%d\n', fib(20));
