disp(sprintf('%3$s %1$s %2$s', 'a', 'b', 'c')), disp(sprintf('%2$d|%1$5.2f', pi, 7))
disp(strcmp({'a'}, {'a', 'b'})), disp(strcmp({'a', 'b'}, {'a'; 'b'}'))
try, strcmp({'a', 'b'}, {'a', 'b', 'c'}), catch e, disp(e.identifier), end
