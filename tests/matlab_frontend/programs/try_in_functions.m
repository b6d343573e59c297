disp(safe_divide(1, 0));
disp(safe_divide(6, 3));
function r = safe_divide(a, b)
  try
    if b == 0
      error('div:zero', 'division by zero');
    end
    r = a / b;
  catch e
    fprintf('caught %s\n', e.identifier);
    r = NaN;
  end
end
