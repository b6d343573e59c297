disp(validatestring('app', {'apple', 'banana'}))
try, validatestring('x', {'apple', 'banana'}), catch e, disp(e.identifier), disp(e.message), end
try, validatestring('a', {'abc', 'axe'}), catch e, disp(e.identifier), end
validateattributes(5, {'numeric'}, {'positive', 'scalar', '<=', 5, 'size', [1 NaN]})
try, validateattributes(-5, {'numeric'}, {'positive'}), catch e, disp(e.identifier), disp(e.message), end
try, validateattributes('a', {'numeric', 'logical'}, {}), catch e, disp(e.identifier), end
try, validateattributes([1 2], {'double'}, {'size', [2 NaN]}, 'f', 'x', 2), catch e, disp(e.identifier), disp(e.message), end
try, validateattributes([3 2], {'double'}, {'increasing'}), catch e, disp(e.identifier), end
