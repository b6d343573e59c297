% A first-order recursive filter over a batch of noisy channels.
%
%   IIR_TSHIRT=m python -m runmat_jit.matlab benchmarks/matlab/iir.m
%
% IIR_TSHIRT (xs, s, m, l), or IIR_M channels and IIR_T steps.

tshirt = getenv('IIR_TSHIRT');
if isempty(tshirt), tshirt = 'xs'; else, tshirt = lower(strtrim(tshirt)); end
switch tshirt
  case {'xs', 'xsmall'}
    M_default = 2048; T_default = 16;
  case {'s', 'small'}
    M_default = 32768; T_default = 128;
  case {'m', 'medium'}
    M_default = 131072; T_default = 512;
  case {'l', 'large'}
    M_default = 524288; T_default = 2048;
  otherwise
    error('iir:tshirt', 'IIR_TSHIRT=%s is invalid (expected xs|s|m|l)', tshirt);
end
env_M = getenv('IIR_M'); if numel(env_M), M_default = str2double(env_M); end
env_T = getenv('IIR_T'); if numel(env_T), T_default = str2double(env_T); end

if ~exist('seed', 'var'), seed = 0; end
if ~exist('M', 'var'), M = M_default; end
if ~exist('T', 'var'), T = T_default; end
if ~exist('alpha', 'var'), alpha = single(0.98); else, alpha = single(alpha); end
if ~exist('beta', 'var'), beta = single(0.02); else, beta = single(beta); end

% One step of a linear congruential generator for each element: every language can repeat it.
Y = zeros(M, 1, 'single');
rid = reshape(0:M-1, [M 1]);
for t = 1:T
  idx = rid + double(t - 1) * double(M) + double(seed);
  state = mod(1664525.0 .* idx + 1013904223.0, 4294967296.0);
  x = single(state ./ 4294967296.0);
  Y = alpha .* Y + beta .* x;
end

fprintf('RESULT_ok MEAN=%.6e\n', double(mean(Y)));
