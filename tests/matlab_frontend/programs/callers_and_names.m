% evalin, assignin, inputname, dbstack, functions, exist.
x = 5;
put('made_here', 42); disp(made_here)
disp(read('x'))
middle();
value = 3;
[a, b, c] = named(value, x, value + 1)
disp(depth_of())
f = functions(@(t) t * x); disp(f.function), disp(f.type), disp(f.workspace{1})
g = functions(@sin)
h = functions(@depth_of); disp(h.type)
evalin('base', 'from_base = 8;'); disp(from_base)
try, evalin('nowhere', '1'), catch e, disp(e.identifier), end
try, assignin('base', '1x', 2), catch e, disp(e.identifier), end
disp(evalin('base', 'no_such_name', '''instead'''))
handle = @named; [p, q] = handle(x, 3); disp({p, q})
disp(in_loop(4))

function put(name, v)
  assignin('caller', name, v);
end

function v = read(name)
  v = evalin('caller', name);
end

function middle()
  x = 'of middle';
  disp(read('x'))
  disp(evalin('base', 'x'))
  put('y', 7); disp(y)
end

function varargout = named(varargin)
  for k = 1:nargin
    varargout{k} = inputname(k);
  end
end

function n = depth_of()
  s = dbstack;
  n = s(1).name;
end

function total = in_loop(n)
  total = 0;
  for k = 1:n
    assignin('caller', 'last_k', k);
    total = total + evalin('caller', 'last_k');
  end
end
