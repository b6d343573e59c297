try, v = silent(1); catch e, disp(e.identifier), end
try, [p, q] = one(1); catch e, disp(e.identifier), end
silent(2)
disp(one(3))
x = sprintf('%bx|%d', 1)
for k = {}, disp('never'), end
for k = cell(0, 3), disp('never'), end
for k = struct([]), disp('never'), end
fprintf('%#o %#x\n', 8, 255);
disp(num2str(1e15)), disp(num2str(1e16)), disp(num2str(realmax)), disp(num2str(-123456789012345678))
function silent(n)
fprintf('silent %d\n', n);
end
function r = one(n)
disp('one runs');
r = n;
end
