n = 1e6; x = zeros(1,n); x(1) = 0.3;
for k = 2:n
  x(k) = 3.7*x(k-1)*(1-x(k-1));
end
fprintf('%.12f\n', x(n));
