n = 600; v = mod((1:n)*7919, 1009);
for i = 1:n-1
  for j = 1:n-i
    if v(j) > v(j+1)
      t = v(j); v(j) = v(j+1); v(j+1) = t;
    end
  end
end
fprintf('%d %d %d\n', v(1), v(300), v(end));
