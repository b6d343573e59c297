% Waves and heat in a plate, and Life, on small and on larger grids.
for n = [24 160]
  u = zeros(n); u(3, 3) = 1; p = u; h = u; g = double(mod(reshape(1:n*n, n, n)*7, 5) < 2);
  for t = 1:1500
    q = 2*u - p;
    q(2:end-1, 2:end-1) = q(2:end-1, 2:end-1) + 0.2*(u(1:end-2, 2:end-1) + u(3:end, 2:end-1) + u(2:end-1, 1:end-2) + u(2:end-1, 3:end) - 4*u(2:end-1, 2:end-1));
    p = u; u = q;
    h(2:end-1, 2:end-1) = 0.25*(h(1:end-2, 2:end-1) + h(3:end, 2:end-1) + h(2:end-1, 1:end-2) + h(2:end-1, 3:end));
    k = circshift(g, [1 0]) + circshift(g, [-1 0]) + circshift(g, [0 1]) + circshift(g, [0 -1]);
    k = k + circshift(g, [1 1]) + circshift(g, [1 -1]) + circshift(g, [-1 1]) + circshift(g, [-1 -1]);
    g = double(k == 3 | (g == 1 & k == 2));
  end
  fprintf('%.8f %.8f %d\n', sum(abs(u(:))), sum(h(:)), sum(g(:)));
end
