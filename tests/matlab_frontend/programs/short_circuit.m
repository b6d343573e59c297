calls = 0;
f = @() error('must not run');
if false && f(), disp('no'), end
if true || f(), disp('yes'), end
x = [];
if isempty(x) || x(1) > 3, disp('guarded'), end
k = 5;
while k > 0 && mod(k, 3) ~= 0, k = k - 1; end
disp(k);
