for i = 1:3
  for j = 1:3
    if j == 2, continue, end
    if i == 3, break, end
    fprintf('%d%d ', i, j);
  end
  switch i
    case 1
      k = 0;
      while true
        k = k + 1;
        if k > 2, break, end
      end
      fprintf('k=%d\n', k);
    otherwise
      fprintf('.\n');
  end
end
