disp(hilb(2)), disp(hankel([1 2 3])), disp(hankel([1 2], [2 5 6])), disp(compan([1 2 3]))
disp(blkdiag([1 2], 3)), disp(pascal(3)), disp(wilkinson(3)), disp(perms([1 2 3]))
