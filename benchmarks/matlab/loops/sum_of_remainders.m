s = 0;
for i = 1:1e7, s = s + mod(i,7)*0.5; end
fprintf('%g\n', s);
