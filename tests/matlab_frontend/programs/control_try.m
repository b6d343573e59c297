try
  error('my:id', 'value %d is bad', 7);
catch err
  fprintf('%s | %s\n', err.identifier, err.message);
end
try
  x = [1 2 3];
  y = x(5);
catch err
  disp(err.identifier);
end
try
  undefined_thing + 1;
catch err
  disp(err.identifier);
end
try
  error('no identifier');
catch err
  fprintf('[%s] %s\n', err.identifier, err.message);
end
try
  try
    error('inner:one', 'first');
  catch inner
    rethrow(inner);
  end
catch outer
  disp(outer.identifier);
end
