v = [];
for k=1:300000
  v(end+1) = k^2;
end
fprintf('%d %g\n', numel(v), sum(v));
