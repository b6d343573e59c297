ops.add = @(a, b) a + b;
ops.mul = @(a, b) a * b;
names = fieldnames(ops);
for k = 1:numel(names)
  disp(ops.(names{k})(3, 4));
end
table = {@sin, 0; @cos, 0};
for k = 1:size(table, 1)
  f = table{k, 1};
  disp(f(table{k, 2}));
end
acc = 0;
add = @(x) acc + x;
acc = 5;
disp(add(1));
disp(isa(add, 'function_handle'));
disp(cellfun(@(f) f(2), {@(x) x + 1, @(x) x * 5}));
