x = gpuArray.zeros(2, 3); disp(size(x)), disp(sum(gather(gpuArray.ones(1, 3))))
disp(size(gpuArray.rand(3))), disp(gather(gpuArray.linspace(0, 1, 3))), disp(gather(gpuArray.eye(2)))
disp(class(gather(gpuArray.zeros(1, 'single')))), disp(gather(gpuArray.colon(1, 3)))
