n = 1e6; p = true(1,n); p(1) = false;
for i = 2:floor(sqrt(n))
  if p(i)
    for j = i*i:i:n
      p(j) = false;
    end
  end
end
fprintf('%d\n', sum(p));
