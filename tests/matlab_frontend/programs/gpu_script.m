rng(0);
x = gpuArray(single(1:8));
y = exp(-x) .* sin(x) + 0.5;
m = gather(mean(y));
fprintf('%.4f\n', m);
z = sum(x .^ 2, 'all');
fprintf('%g\n', gather(z));
disp(class(gather(x)));
