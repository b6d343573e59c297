[n, b] = histc([1 2 2 3 5], [0 2 4]);
disp(n), disp(b)
disp(histc([1 2; 2 3; 9 9], 1:3))
disp(histc([1; 2; 2], [1; 2])')
[n, e, b] = histcounts([1 2 2 3 5 9], [1 2 3 5]);
disp(n), disp(e), disp(b)
disp(histcounts([1 2 4], 'BinLimits', [0 4], 'NumBins', 2, 'Normalization', 'probability'))
try, histcounts([1 2 3]), catch e, disp(e.identifier), end
