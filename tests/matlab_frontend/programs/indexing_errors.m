show(@() subsref_test(1));
show(@() subsref_test(2));
show(@() subsref_test(3));
show(@() [1 2 3] + [1 2]);
show(@() [1 2; 3 4] * [1 2 3]);
show(@() ones(2, 3)(3, 1));
function show(f)
  try
    f();
    disp('no error');
  catch e
    disp(class(e.message));
  end
end
function r = subsref_test(k)
  x = [1 2 3];
  if k == 1, r = x(0); end
  if k == 2, r = x(1.5); end
  if k == 3, r = x(4); end
end
