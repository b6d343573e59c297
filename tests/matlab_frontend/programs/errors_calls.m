try, unknown_name, catch e, disp(e.message), disp(e.identifier), end
try, unknown_name(3), catch e, disp(e.message), end
try, f = @(x) x; f(1, 2), catch e, disp(e.message), disp(e.identifier), end
try, g(1, 2), catch e, disp(e.message), disp(e.identifier), end
try, [a, b] = g(1), catch e, disp(e.message), disp(e.identifier), end
try, y = nothing(1), catch e, disp(e.message), disp(e.identifier), end
try, h(), catch e, disp(e.message), disp(e.identifier), end
try, zeros(1, 2, 'nothing'), catch e, disp(e.identifier), end
try, error('a:b', 'with %s', 'text'), catch e, disp(e.message), end
try, error('plain %d'), catch e, disp(e.message), end
try, error(struct('message', 'from struct', 'identifier', 's:t')), catch e, disp(e.identifier), end
try, assert(false), catch e, disp(e.message), end
try, assert(1 == 2, 'my:id', 'values %d', 5), catch e, disp(e.message), end
try, throw(MException('x:y', 'made %d', 3)), catch e, disp(e.message), end
try, str2func(5), catch e, disp('str2func'), end
try, validate(5), catch e, disp(e.message), end
function y = g(x), y = x; end
function y = h(x), y = x + 1; end
function y = nothing(x), x = 1; end
function validate(x)
  if x > 3
    error('validate:tooLarge', 'x must be at most 3, not %d.', x);
  end
end
