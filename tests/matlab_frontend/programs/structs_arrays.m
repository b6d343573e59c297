p(1).x = 1;
p(2).x = 5;
p(3).x = 9;
disp(numel(p));
disp(mat2str([p.x]));
p(2) = [];
disp(mat2str([p.x]));
q = struct('v', {10, 20, 30});
disp(mat2str(size(q)));
total = 0;
for k = 1:numel(q)
  total = total + q(k).v;
end
disp(total);
q(2).v = 'changed';
disp(q(2).v);
r = [p(1), p(2)];
disp(numel(r));
disp(isempty(struct([])));
values = arrayfun(@(e) e.x * 2, p);
disp(mat2str(values));
