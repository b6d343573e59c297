n = 600; a = mod((1:n)*7,26); b = mod((1:n)*11,26);
D = zeros(n+1,n+1);
for i=1:n+1, D(i,1) = i-1; end
for j=1:n+1, D(1,j) = j-1; end
for i=2:n+1
  for j=2:n+1
    if a(i-1)==b(j-1), c = 0; else, c = 1; end
    D(i,j) = min(min(D(i-1,j)+1, D(i,j-1)+1), D(i-1,j-1)+c);
  end
end
fprintf('%d\n', D(n+1,n+1));
