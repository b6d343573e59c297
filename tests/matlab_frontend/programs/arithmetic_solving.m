A = [4 -2; 1 1];
b = [2; 3];
x = A \ b;
fprintf('%.10f\n', x);
y = b' / A;
fprintf('%.10f\n', y);
overdetermined = [1 1; 1 2; 1 3] \ [1; 2; 2];
fprintf('%.8f\n', overdetermined);
