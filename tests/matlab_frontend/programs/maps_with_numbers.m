m = containers.Map([1 2 3], {'a', 'b', 'c'});
disp(m(2))
for k = keys(m), fprintf('%d ', k{1}); end, fprintf('\n');
m = containers.Map({'x', 'y'}, [10 20]);
disp(m('x') + m('y'))
try, containers.Map([1 2], {'a'}), catch e, disp(e.identifier), end
