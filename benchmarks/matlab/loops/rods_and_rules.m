% Heat in a rod, a rule over cells in a ring, neurons that fire, and a filter over columns.
n = 2000; T = 20000; u = zeros(1, n); u(round(n/2)) = 1; c = zeros(1, n); c(round(n/2)) = 1;
v = linspace(0, 1, n)'; fired = zeros(n, 1);
X = reshape(mod((0:n*n-1)*16807, 2147483647)/2147483647, n, n); Y = zeros(n); y = zeros(n, 1);
for t = 1:T
  u(2:end-1) = u(2:end-1) + 0.1*(u(1:end-2) - 2*u(2:end-1) + u(3:end));
  c = mod([c(end) c(1:end-1)] + [c(2:end) c(1)], 2);
  v = v + 0.05*(1.5 - v); f = v > 1; fired = fired + f; v(f) = 0;
  y = 0.98*y + 0.02*X(:, mod(t, n) + 1); Y(:, mod(t, n) + 1) = y;
end
fprintf('%.8f %d %d %.8f\n', sum(u.*u), sum(c), sum(fired), mean(Y(:)));
