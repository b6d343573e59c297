n = 9;
u = zeros(n);
u(1, :) = 100;
for step = 1:30
  u(2:end - 1, 2:end - 1) = 0.25 * (u(1:end - 2, 2:end - 1) + u(3:end, 2:end - 1) + u(2:end - 1, 1:end - 2) + u(2:end - 1, 3:end));
end
fprintf('%.6f ', u(:, 5));
fprintf('\n');
