p = inputParser;
p.FunctionName = 'area';
p.addRequired('width', @isnumeric);
addOptional(p, 'height', 2, @(x) x > 0);
addParameter(p, 'units', 'cm', @ischar);
p.addSwitch('verbose');
p.parse(3, 'UNITS', 'm', 'verbose')
r = p.Results;
fprintf('%g %g %s %d\n', r.width, r.height, r.units, r.verbose);
disp(p.UsingDefaults), disp(p.Parameters), disp(class(p))
parse(p, 3, 7); disp(p.Results.height)
try, p.parse('a'), catch e, disp(e.identifier), disp(e.message), end
try, p.parse(1, -1), catch e, disp(e.message), end
try, p.parse(1, 2, 'weight', 3), catch e, disp(e.identifier), end
try, p.parse(), catch e, disp(e.identifier), end
p.KeepUnmatched = true;
p.parse(1, 2, 'weight', 3); disp(p.Unmatched.weight)
p.parse(1, 2, struct('units', 'km')); disp(p.Results.units)
