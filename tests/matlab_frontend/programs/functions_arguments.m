disp(count_arguments());
disp(count_arguments(1, 2, 3));
disp(with_default(2));
disp(with_default(2, 5));
[a, b, c] = many();
fprintf('%d %d %d\n', a, b, c);
x = many();
disp(x);
disp(join_all('-', 'a', 'b', 'c'));
function n = count_arguments(varargin)
  n = numel(varargin) + nargin * 10;
end
function r = with_default(x, y)
  if nargin < 2
    y = 100;
  end
  r = x + y;
end
function varargout = many()
  for k = 1:max(nargout, 1)
    varargout{k} = k * 11;
  end
end
function s = join_all(mark, varargin)
  s = varargin{1};
  for k = 2:numel(varargin)
    s = [s mark varargin{k}];
  end
end
