n = 300; total = 0;
for a = 1:n
  for b = 1:n
    cr = -2 + 3*a/n; ci = -1.5 + 3*b/n;
    zr = 0; zi = 0; k = 0;
    while k < 100 && zr*zr + zi*zi <= 4
      t = zr*zr - zi*zi + cr;
      zi = 2*zr*zi + ci;
      zr = t;
      k = k + 1;
    end
    total = total + k;
  end
end
fprintf('%d\n', total);
