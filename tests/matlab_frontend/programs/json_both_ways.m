% jsonencode and jsondecode.
disp(jsonencode([1 2; 3 4]))
disp(jsonencode({1, 'a', [], true, NaN}))
disp(jsonencode(struct('a', {1, 2})))
disp(jsonencode(struct('name', 'Ann', 'age', 30.5, 'tags', {{'x', 'y'}})))
disp(jsonencode(ones(2, 2, 2)))
disp(jsonencode([1; 2])), disp(jsonencode([])), disp(jsonencode('')), disp(jsonencode(['ab'; 'cd']))
disp(jsonencode([true false])), disp(jsonencode(int8(5))), disp(jsonencode(0.1)), disp(jsonencode(1/3))
disp(jsonencode(sprintf('quote " line\n')))
disp(jsonencode([1 NaN Inf]))
d = jsondecode('{"a":[1,2,3],"b":[[1,2],[3,4]],"c":[{"x":1},{"x":2}],"d":null,"1f":true,"g":[1,null]}')
d.a', d.b, d.c(2).x, d.g'
c = jsondecode('[1, "two", [3]]')
m = jsondecode('[{"x":1},{"y":2}]')
s = jsondecode('["u", "v"]')
n = jsondecode('3.5'), t = jsondecode('"text"'), b = jsondecode('[true,false]')
e = jsondecode('[]'), e2 = jsondecode('{}')
x = struct('p', [1 2 3], 'q', 'text');
y = jsondecode(jsonencode(x));
disp(isequal(y.p, x.p')), disp(isequal(y.q, x.q))
try, jsondecode('{"a":'), catch err, disp(err.identifier), end
