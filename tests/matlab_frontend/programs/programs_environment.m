n = str2double(getenv('RUNMAT_TEST_NOT_SET'));
if isnan(n), n = 4; end
if ~exist('m', 'var'), m = 3; end
x = ones(n, m, 'single');
disp(mat2str(size(x)));
disp(class(x));
disp(exist('n', 'var'));
disp(exist('not_there', 'var'));
t = tic;
elapsed = toc(t);
disp(elapsed >= 0);
disp(isa(x, 'float'));
disp(isa(5, 'numeric'));
disp(isa(int8(5), 'integer'));
disp(isa(x, 'single'));
