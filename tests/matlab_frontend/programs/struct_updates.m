s = struct('count', 0, 'items', {{}});
for k = 1:3
  s.count = s.count + k;
  s.items{end + 1} = sprintf('item%d', k);
end
fprintf('%d %s %s\n', s.count, s.items{1}, s.items{end});
people = struct('name', {'Al', 'Bo'}, 'age', {30, 25});
[~, order] = sort([people.age]);
people = people(order);
disp(people(1).name);
people(end + 1) = struct('name', 'Cy', 'age', 40);
disp(numel(people));
ages = arrayfun(@(p) p.age, people);
disp(mat2str(ages));
names = {people.name};
disp(strjoin(names, '+'));
t = setfield(s, 'new', 5);
disp(getfield(t, 'new'));
c = struct2cell(struct('a', 1, 'b', 2));
disp(mat2str([c{:}]));
u = cell2struct({1; 2}, {'x'; 'y'}, 1);
disp(u.y);
o = orderfields(struct('b', 1, 'a', 2));
f = fieldnames(o);
disp(f{1});
