% Nested functions share variables with the functions that hold them.
a = counter(10); b = counter(0);
a(); a();
disp([a() b()])
disp(total_of([1 2 3 4]))
disp(deep(2))
disp(own_variables())
[get, set] = cell_of('first');
set('second'); disp(get())
disp(recursive(5))
disp(global_inside())
disp(defaults(3)), disp(defaults(3, 4))
each = cellfun(@(h) h(), {counter(1), counter(2)}); disp(each)
joined

function h = counter(n)
  h = @bump;
  function y = bump()
    n = n + 1;
    y = n;
  end
end

function total = total_of(x)
  total = 0;
  for k = 1:numel(x)
    add(x(k));
  end
  function add(v)
    total = total + v;
  end
end

function y = deep(x)
  y = x;
  outer_step();
  function outer_step()
    t = 1;
    inner_step();
    y = y + t;
    function inner_step()
      y = y * 10;
      t = t + 1;
    end
  end
end

function s = own_variables()
  first(); second();
  s = [x_of_first() 5];
  function first()
    mine = 1;
  end
  function second()
    mine = 2;
  end
  function r = x_of_first()
    r = exist('mine', 'var');
  end
end

function [get, set] = cell_of(value)
  get = @read; set = @write;
  function v = read(), v = value; end
  function write(v), value = v; end
end

function y = recursive(n)
  y = 0;
  step(n);
  function step(k)
    if k > 0
      y = y + k;
      step(k - 1);
    end
  end
end

function y = global_inside()
  global G_NESTED
  G_NESTED = 3;
  more();
  y = G_NESTED;
  function more()
    G_NESTED = G_NESTED * 2;
  end
end

function y = defaults(p, q)
  if nargin < 2, fill(); end
  y = [p q];
  function fill(), q = -p; end
end

function joined()
  x = [];
  add(1), add(2)
  y = x;
  f = @() x;
  add(3)
  disp(x), disp(y), disp(f())
  function add(k), x = [x, k]; end
end
