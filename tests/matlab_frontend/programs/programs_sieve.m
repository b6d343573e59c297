n = 50;
sieve = true(1, n);
sieve(1) = false;
for k = 2:floor(sqrt(n))
  if sieve(k)
    sieve(k * k:k:n) = false;
  end
end
fprintf('%d ', find(sieve));
fprintf('\n');
