words = strsplit('the cat and the dog and the bird', ' ');
counts = containers.Map();
for k = 1:numel(words)
  w = words{k};
  if isKey(counts, w)
    counts(w) = counts(w) + 1;
  else
    counts(w) = 1;
  end
end
names = keys(counts);
for k = 1:numel(names)
  fprintf('%s=%d ', names{k}, counts(names{k}));
end
fprintf('\n');
