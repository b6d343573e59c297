x = 1:5;
while any(x < 20)
  x = x .* 2;
end
disp(mat2str(x));
k = 3;
while k
  k = k - 1;
end
disp(k);
v = [1 1 1];
while v
  v(2) = 0;
end
disp(mat2str(v));
