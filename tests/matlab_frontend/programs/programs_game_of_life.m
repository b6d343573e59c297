world = zeros(6);
world(3, 2:4) = 1;
for step = 1:2
  neighbors = zeros(size(world));
  for dx = -1:1
    for dy = -1:1
      if dx ~= 0 || dy ~= 0
        neighbors = neighbors + circshift(world, [dx dy]);
      end
    end
  end
  world = double(neighbors == 3 | (world & neighbors == 2));
end
disp(mat2str(world(3, :)));
disp(sum(world(:)));
