try, v = silent(1); catch e, disp(e.identifier), end
try, [p, q] = one(1); catch e, disp(e.identifier), end
silent(2)
disp(one(3))
x = sprintf('%bx|%d', 1)
function silent(n)
fprintf('silent %d\n', n);
end
function r = one(n)
disp('one runs');
r = n;
end
