total = 0;
for k = 1:10
  if mod(k, 2), continue, end
  if k > 8, break, end
  total = total + k;
end
disp(total);
for column = [1 2; 3 4], fprintf('%d %d\n', column); end
for k = 10:-3:1, fprintf('%d ', k); end
fprintf('\n');
for c = {1, 'two'}, disp(class(c)); end
for k = [], disp('never'); end
for x = 0:0.25:1, fprintf('%g ', x); end
fprintf('\n');
for ch = 'abc', fprintf('<%s>', ch); end
fprintf('\n');
