fprintf('%d ', arrayfun(@fib, 1:10));
fprintf('\n');
hanoi(3, 'A', 'B', 'C');
function r = fib(n)
  if n < 3, r = 1; else, r = fib(n - 1) + fib(n - 2); end
end
function hanoi(n, from, to, via)
  if n == 0, return, end
  hanoi(n - 1, from, via, to);
  fprintf('%s->%s ', from, to);
  hanoi(n - 1, via, to, from);
  if n == 3, fprintf('\n'); end
end
