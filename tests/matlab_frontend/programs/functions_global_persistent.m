global total
total = 0;
add(5);
add(7);
disp(total);
for k = 1:3, fprintf('%d ', counter()); end
fprintf('\n');
function add(x)
  global total
  total = total + x;
end
function n = counter()
  persistent count
  if isempty(count), count = 0; end
  count = count + 1;
  n = count;
end
