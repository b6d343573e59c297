% A Kalman filter, conjugate gradients of small systems, the Lorenz equations and a sieve.
F = [1 0.1; 0 1]; H = [1 0]; Q = [0.01 0; 0 0.01]; R = 0.5; x = [0; 0]; P = eye(2);
z = sin((1:60000)*0.01); out = zeros(1, 60000);
for k = 1:60000
  x = F*x; P = F*P*F' + Q; y = z(k) - H*x; S = H*P*H' + R; K = P*H'/S;
  x = x + K*y; P = (eye(2) - K*H)*P; out(k) = x(1);
end
n = 40; A = cos((1:n)'*(1:n)/7); A = A*A' + n*eye(n); b = sin((1:n)'); most = 0;
for again = 1:2000
  x = zeros(n, 1); r = b - A*x; p = r; rs = r'*r;
  for k = 1:n
    Ap = A*p; alpha = rs/(p'*Ap); x = x + alpha*p; r = r - alpha*Ap; rsn = r'*r;
    if sqrt(rsn) < 1e-10, break, end
    p = r + (rsn/rs)*p; rs = rsn;
  end
  most = max(most, norm(A*x - b));
end
v = [1 1 1]; X = zeros(100000, 3);
for k = 1:100000
  d = [10*(v(2) - v(1)), v(1)*(28 - v(3)) - v(2), v(1)*v(2) - 8/3*v(3)];
  v = v + 0.001*d; X(k, :) = v;
end
N = 20000000; s = true(1, N); s(1) = false;
for i = 2:floor(sqrt(N)), if s(i), s(i*i:i:N) = false; end, end
fprintf('%.8f %d %.3f %d\n', sum(out), most < 1e-8, X(5000, 1), sum(s));
