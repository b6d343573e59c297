A = [4 1; 2 3];
v = [1; 1];
for k = 1:50
  w = A * v;
  v = w / norm(w);
end
fprintf('%.8f\n', v' * A * v);
