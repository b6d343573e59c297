try, [1 2] + [1 2 3], catch e, disp(e.message), disp(e.identifier), end
try, ones(2, 3) * ones(2, 3), catch e, disp(e.identifier), end
try, ones(2, 3) ^ 2, catch e, disp(e.identifier), end
try, int8(1) + int16(1), catch e, disp(e.message), end
try, [1 2; 3], catch e, disp(e.message), disp(e.identifier), end
try, {1} + 1, catch e, disp(e.message), disp(e.identifier), end
try, if {}, end, catch e, disp(e.message), end
try, if NaN, disp('yes'), else, disp('no'), end, catch e, disp(e.message), end
try, inv([1 2 3]), catch e, disp(e.identifier), end
try, chol([1 2; 2 1]); catch e, disp(e.identifier), end
