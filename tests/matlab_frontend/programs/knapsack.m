weights = [1 3 4 5];
worth = [1 4 5 7];
capacity = 7;
best = zeros(1, capacity + 1);
for i = 1:numel(weights)
  for w = capacity:-1:weights(i)
    best(w + 1) = max(best(w + 1), best(w - weights(i) + 1) + worth(i));
  end
end
disp(best(end));
