S = [90 100 110];
K = 100; r = 0.05; v = 0.2; T = 1;
d1 = (log(S / K) + (r + v ^ 2 / 2) * T) ./ (v * sqrt(T));
d2 = d1 - v * sqrt(T);
N = @(x) 0.5 * (1 + erf(x / sqrt(2)));
C = S .* N(d1) - K * exp(-r * T) .* N(d2);
fprintf('%.6f\n', C);
