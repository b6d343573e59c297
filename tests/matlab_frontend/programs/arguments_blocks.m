% arguments blocks: defaults, sizes, classes, validators, names and values.
disp(area(2)), disp(area(2, 5)), disp(area(2, 5, scale=3)), disp(area(2, 'scale', 4))
disp(area(int8(3)))
disp(class(whole(3.7)))
[r, c] = shapes([1; 2; 3], 7); disp(r), disp(c)
disp(names(1, 'Color', "red", 'Width', 2))
n = names(1)
disp(count_of(1, 'a', 2, 'b', 3))
[lo, hi] = limits(); disp([lo hi])
disp(checked(4))
disp(partial(Ver=1))
calls = {@() area(), @() area(-1), @() area([1 2]), @() area('a', {}), @() area(1, 2, 3), ...
  @() area(1, scale=200), @() area(1, what=2), @() area(1, 'scale'), @() shapes([1 2; 3 4], 1), ...
  @() names(1, Color='blue'), @() checked(-4), @() whole('x'), @() whole({}), @() count_of(1, 'a', 2)};
for k = 1:numel(calls)
  try
    calls{k}();
    fprintf('%d: no error\n', k)
  catch e
    fprintf('%d: %s: %s\n', k, e.identifier, e.message)
  end
end

function a = area(w, h, opts)
  arguments
    w (1,1) double {mustBePositive}
    h (1,1) double = w
    opts.scale (1,1) {mustBeNumeric, mustBeLessThan(opts.scale, 100)} = 1
  end
  a = w * h * opts.scale;
end

function x = whole(x)
  arguments
    x int32
  end
end

function [r, c] = shapes(r, c)
  arguments
    r (1,:) double
    c (1,3) double
  end
end

function s = names(n, style)
  arguments
    n
    style.Color (1,1) string {mustBeMember(style.Color, ["red" "green"])} = "green"
    style.Width = n * 2
  end
  s = style;
end

function n = count_of(base, key, value)
  arguments
    base
  end
  arguments (Repeating)
    key char
    value double
  end
  n = numel(key) * 100 + sum([value{:}]) + base;
end

function [lo, hi] = limits(lo, hi)
  arguments
    lo = 1
    hi {mustBeGreaterThan(hi, lo)} = lo + 1
  end
end

function y = checked(x)
  arguments
    x
  end
  arguments (Output)
    y (1,1) {mustBeNonnegative}
  end
  y = x;
end

function y = partial(opts)
  arguments
    opts.Verbose = 0
    opts.Other = 0
  end
  y = opts.Verbose;
end
