% Normalized least mean squares: adaptive filters, one a column.
%
%   NLMS_P=128 NLMS_C=512 NLMS_T=200 python -m runmat_jit.matlab benchmarks/matlab/nlms.m
%
% NLMS_P taps, NLMS_C filters and NLMS_T steps.

p_default = 128; C_default = 2048; T_default = 200;
env_p = getenv('NLMS_P'); if numel(env_p), p_default = str2double(env_p); end
env_C = getenv('NLMS_C'); if numel(env_C), C_default = str2double(env_C); end
env_T = getenv('NLMS_T'); if numel(env_T), T_default = str2double(env_T); end

if ~exist('p', 'var'), p = p_default; end
if ~exist('C', 'var'), C = C_default; end
if ~exist('T', 'var'), T = T_default; end
mu = single(0.5); eps0 = single(1e-3);

W = zeros(p, C, 'single');
rid = double(reshape(0:p-1, [p 1]));
cid = double(reshape(0:C-1, [1 C]));
for t = 1:T
  idx = rid .* double(C) + cid + double(t - 1) * double(p * C);
  state = mod(1664525.0 .* idx + 1013904223.0, 4294967296.0);
  x = single(state ./ 4294967296.0);
  d = sum(x .* x, 1, 'native');
  y = sum(x .* W, 1, 'native');
  e = d - y;
  W = W + mu * (x .* repmat(e ./ (d + eps0), p, 1));
end

final_error = double(d) - double(sum(x .* W, 1, 'native'));
mse = mean(final_error .^ 2, 'all');
fprintf('RESULT_ok MSE=%.6e\n', mse);
