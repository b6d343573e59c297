% A wave that is damped and limited: elementwise chains, a loop, and an array on the GPU.
%
%   python -m runmat_jit.matlab examples/05_matlab.m --explain
%   python -m runmat_jit.matlab examples/05_matlab.m --device gpu

x = single(linspace(0, 12, 100001));

% Statements on large arrays are recorded, and computed where the program looks: here at fprintf.
wave = sin(x) .* exp(-x / 10);
limited = min(max(wave, -0.5), 0.5);
fprintf('%.1f %% of the samples are limited\n', 100 * mean(wave ~= limited));

% The steps of a loop share one compiled program. With --device gpu the samples stay on the device
% until gather; elsewhere gpuArray and gather give what they are given.
samples = gpuArray(limited);
for step = 1:8
  samples = smooth(samples, 0.25);
end
kept = gather(samples);
fprintf('the steepest step is %.2e\n', max(abs(diff(kept))));

assert(isequal(size(kept), size(x)));
assert(max(abs(kept)) <= 0.5);

function y = smooth(x, weight)
% Each sample between its neighbors; the first and the last stay.
inner = x(2:end-1) + weight * (x(1:end-2) - 2 * x(2:end-1) + x(3:end));
y = [x(1), inner, x(end)];
end
