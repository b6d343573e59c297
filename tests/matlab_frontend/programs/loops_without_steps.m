k = 5; for k = 1:0, end, disp(size(k))
k = 5; for k = [], end, disp(size(k))
for k = zeros(0, 3), fprintf('.'); end, fprintf('\n');
if true | error('not looked at'), disp('first'), end
if false & error('not looked at'), else, disp('second'), end
if ([1 0] | [0 1]), disp('all'), end
