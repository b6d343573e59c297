s = '';
for k = 1:5
  s = [s sprintf('%d', k)];
  if k < 5, s = [s ', ']; end
end
disp(s);
words = {};
words{end + 1} = 'alpha';
words{end + 1} = 'beta';
fprintf('%s;', words{:});
fprintf('\n');
line = repmat('-', 1, 10);
disp(line);
count = struct();
for c = 'hello'
  if isfield(count, c)
    count.(c) = count.(c) + 1;
  else
    count.(c) = 1;
  end
end
disp(count.l);
