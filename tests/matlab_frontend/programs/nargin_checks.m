disp(area(3));
disp(area(3, 4));
try
  area();
catch e
  disp(e.message);
end
[a, n] = stats([1 2 3]);
fprintf('%g %d\n', a, n);
only = stats([4 6]);
disp(only);
function r = area(w, h)
  narginchk(1, 2);
  if nargin == 1, h = w; end
  r = w * h;
end
function [a, n] = stats(x)
  a = mean(x);
  if nargout > 1
    n = numel(x);
  end
end
