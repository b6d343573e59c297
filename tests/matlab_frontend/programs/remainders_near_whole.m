disp(mod(0.3, 0.1)), disp(mod(1, 0.1)), disp(rem(0.9, 0.3))
disp(mod([0.3 0.35], 0.1)), disp(mod(5, [2 0.5])), disp(rem(-1, 0.3))
disp(mod(5.5, 2)), disp(mod(-5.5, 2)), disp(mod(3, Inf)), disp(mod(3, 0))
disp(mod(single(0.3), single(0.1)))
