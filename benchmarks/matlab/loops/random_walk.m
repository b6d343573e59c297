rng(1); n = 1e6; x = 0; y = 0; far = 0;
for k = 1:n
  d = floor(4*rand());
  if d == 0
    x = x + 1;
  elseif d == 1
    x = x - 1;
  elseif d == 2
    y = y + 1;
  else
    y = y - 1;
  end
  far = max(far, x*x + y*y);
end
fprintf('%d\n', far > 100);
