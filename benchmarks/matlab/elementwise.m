% A chain of transcendental functions over one vector.
%
%   python -m runmat_jit.matlab benchmarks/matlab/elementwise.m --explain
%
% ELEMENTWISE_POINTS in the environment says how many points.

points = 5000001;
env_points = getenv('ELEMENTWISE_POINTS');
if numel(env_points)
  points = str2double(env_points);
end
if ~exist('x', 'var'), x = single(linspace(0, 4 * pi, points)); end

use_gpu = exist('gpuArray', 'builtin') || exist('gpuArray', 'file');
if use_gpu
  x = gpuArray(x);
end

y0 = sin(x) .* exp(-x / single(10));
y1 = y0 .* cos(x / 4) + single(0.25) .* (y0 .^ 2);
y2 = tanh(y1) + single(0.1) .* y1;

fprintf('RESULT_ok MEAN=%.6e\n', double(gather(mean(y2))));
