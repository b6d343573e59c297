if canUseGPU(), x = gpuArray(1); else, x = 1; end
if gpuDeviceCount > 0, x = gpuArray(x); end
try, gpuDevice; catch, disp('no device'); end
x = gpuArray(single(3)); disp(class(gather(x))); disp(isgpuarray(x))
