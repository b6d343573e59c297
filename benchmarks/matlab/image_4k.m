% Whitening, gain, clamp and gamma of a batch of 4K images, and the error against the input.
%
%   IMG_B=4 python -m runmat_jit.matlab benchmarks/matlab/image_4k.m --explain
%
% IMG_B, IMG_H and IMG_W in the environment give the size.

B_default = 16; H_default = 2160; W_default = 3840;
gain = single(1.0123);
bias = single(-0.02);
gamma = single(1.8);
eps0 = single(1e-6);

if ~exist('seed', 'var'), seed = 0; end
rng(seed);

env_B = getenv('IMG_B');
if numel(env_B)
  B_override = str2double(env_B);
  if isfinite(B_override) && B_override > 0 && B_override == floor(B_override)
    B_default = B_override;
  else
    error('IMG_B must be a finite positive integer');
  end
end
env_H = getenv('IMG_H'); if numel(env_H), H_default = str2double(env_H); end
env_W = getenv('IMG_W'); if numel(env_W), W_default = str2double(env_W); end
if ~exist('B', 'var'), B = B_default; end
if ~exist('H', 'var'), H = H_default; end
if ~exist('W', 'var'), W = W_default; end

use_gpu = exist('gpuArray', 'builtin') || exist('gpuArray', 'file');
if ~exist('imgs', 'var')
  if use_gpu
    imgs = rand(B, H, W, 'like', gpuArray(single(0)));
  else
    imgs = rand(B, H, W, 'single');
  end
end

mu = mean(imgs, [2 3], 'native');
sigma = sqrt(mean((imgs - mu) .^ 2, [2 3], 'native') + eps0);
out = (imgs - mu) ./ sigma * gain + bias;
out = max(out, single(0));  % a fractional power of negative numbers would be complex
out = out .^ gamma;
mse = gather(mean((out - imgs) .^ 2, 'all'));

fprintf('RESULT_ok MSE=%.6e\n', double(mse));
