n = 120; A = reshape(mod(1:n*n,17),n,n); B = reshape(mod(1:n*n,13),n,n); C = zeros(n,n);
for i=1:n
  for j=1:n
    s = 0;
    for k=1:n
      s = s + A(i,k)*B(k,j);
    end
    C(i,j) = s;
  end
end
fprintf('%g\n', sum(C(:)));
