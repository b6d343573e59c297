[y, z] = filter(1, [1 -0.5], [1 1]); disp(y), disp(z)
y = filter(1, [1 -0.5], [1 1], z); disp(y)
disp(filter([1 1]/2, 1, [1 2; 3 4])), disp(filter([1 1]/2, 1, [1 2; 3 4], [], 2))
disp(cumtrapz([1 2 3])), disp(trapz([1 2; 3 4])), disp(trapz([0 1 3], [1 2 3])), disp(trapz([1 2; 3 4], 2))
disp(zscore([1 2 3])), disp(nonzeros([0 3; 5 0])')
try, filter(1, 0, 1), catch e, disp(e.identifier), end
