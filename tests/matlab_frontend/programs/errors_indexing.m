try, x = [1 2 3]; x(0), catch e, disp(e.message), disp(e.identifier), end
try, x = [1 2 3]; x(1.5), catch e, disp(e.message), disp(e.identifier), end
try, x = [1 2 3]; x(7), catch e, disp(e.message), disp(e.identifier), end
try, A = ones(2); A(3, 1), catch e, disp(e.message), disp(e.identifier), end
try, A = ones(2); A(1, 3), catch e, disp(e.message), disp(e.identifier), end
try, A = ones(2); A(:, :, 2), catch e, disp(e.message), disp(e.identifier), end
try, A = ones(2); A(0, 1), catch e, disp(e.message), disp(e.identifier), end
try, x = 1:3; x([1 2]) = [1 2 3]; catch e, disp(e.message), disp(e.identifier), end
try, A = ones(2); A(:, 1) = [1 2 3]; catch e, disp(e.message), disp(e.identifier), end
try, x = 1:3; x{1}, catch e, disp(e.identifier), end
try, x = 5; x.field, catch e, disp(e.message), disp(e.identifier), end
try, s.a = 1; s.b, catch e, disp(e.message), disp(e.identifier), end
try, A = magic(3); A(1, 2) = []; catch e, disp(e.message), end
