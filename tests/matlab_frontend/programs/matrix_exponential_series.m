A = [0 1; -1 0];
E = eye(2);
term = eye(2);
for k = 1:20
  term = term * A / k;
  E = E + term;
end
fprintf('%.8f %.8f\n', E');
fprintf('%d\n', norm(E - expm(A)) < 1e-12);
