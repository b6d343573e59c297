n = 12;
f = ones(1, n);
for k = 3:n
  f(k) = f(k - 1) + f(k - 2);
end
fprintf('%d ', f);
fprintf('\n');
x = 0.3;
r = 3.7;
for k = 1:50
  x = r * x * (1 - x);
end
fprintf('%.10f\n', x);
