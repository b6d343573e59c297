[m, k] = cummax([1 3 2 5 5 4]);
disp(m), disp(k)
[m, k] = cummin([5 3; 4 6; 1 2]);
disp(m), disp(k)
disp(cumsum([1 2 3 4], 'reverse'))
disp(cumprod([1 2; 3 4], 2, 'reverse'))
