queue = {};
queue{end + 1} = struct('id', 1, 'cost', 5);
queue{end + 1} = struct('id', 2, 'cost', 3);
total = 0;
while ~isempty(queue)
  item = queue{1};
  queue(1) = [];
  total = total + item.cost;
  fprintf('%d:%d ', item.id, total);
end
fprintf('\n');
