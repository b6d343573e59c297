% The price of a European call: geometric Brownian motion, one step after the other.
%
%   MC_M=250000 MC_T=256 python -m runmat_jit.matlab benchmarks/matlab/monte_carlo.m
%
% MC_M paths and MC_T steps in the environment.

M_default = 1000000; T_default = 256;
if ~exist('seed', 'var'), seed = 0; end
rng(seed);

env_M = getenv('MC_M'); if numel(env_M), M_default = str2double(env_M); end
env_T = getenv('MC_T'); if numel(env_T), T_default = str2double(env_T); end
if ~exist('M', 'var'), M = M_default; end
if ~exist('T', 'var'), T = T_default; end

S0 = single(100); K = single(100);
mu = single(0.05); sigma = single(0.20); dt = single(1.0 / 252.0);
drift = (mu - 0.5 * sigma ^ 2) * dt;
scale = sigma * sqrt(dt);

S = ones(M, 1, 'single') * S0;
for t = 1:T
  Z = randn(M, 1, 'single');
  S = S .* exp(drift + scale .* Z);
end

payoff = max(S - K, 0);
price = mean(payoff, 'all') * exp(-mu * T * dt);
disp(['RESULT_ok PRICE=' num2str(double(price), 8)]);
