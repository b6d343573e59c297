n = 100; u = zeros(n); u(1,:) = 1; v = u;
for t=1:100
  for i=2:n-1
    for j=2:n-1
      v(i,j) = 0.25*(u(i-1,j)+u(i+1,j)+u(i,j-1)+u(i,j+1));
    end
  end
  u = v;
end
fprintf('%.8f\n', sum(u(:)));
