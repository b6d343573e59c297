% MException: identifier, stack, causes, rethrow, reports.
try
  level_one(3)
catch e
  disp(e.identifier), disp(e.message)
  disp({e.stack.name})
  disp(size(e.stack)), disp(fieldnames(e.stack)')
end
try
  try
    level_one(3)
  catch inner
    outer = MException('outer:id', 'outer with %d', 7);
    outer = addCause(outer, inner);
    outer = outer.addCause(MException('second:id', 'second'));
    throw(outer)
  end
catch e
  disp(e.message), disp(numel(e.cause)), disp(e.cause{1}.message), disp(e.cause{2}.identifier)
  disp(size(e.cause))
end
try
  try, level_one(3), catch e, rethrow(e), end
catch again
  disp(again.stack(1).name)
end
try
  try, level_one(3), catch e, throw(e), end
catch again
  disp(any(strcmp({again.stack.name}, 'level_two')))
end
made = MException('a:b', 'text')
disp(isempty(made.stack)), disp(isempty(made.cause)), disp(made.getReport())
try, MException('no identifier', 'x'), catch e, disp(e.identifier), end
try, made.nothing, catch e, disp(e.identifier), end
try, error('MATLAB:my:id', 'With number %d', 5), catch e, disp(e.message), end
try, error(struct('identifier', 's:t', 'message', 'of a struct')), catch e, disp(e.identifier), end
report = '';
try, level_one(2), catch e, report = getReport(e); end
disp(strrep(report, sprintf('\n'), '|'))
disp(getReport(e, 'basic'))
try, caller_blamed(), catch e, disp(e.message), disp(e.identifier), end

function level_one(x)
  level_two(x)
end

function level_two(x)
  error('deep:id', 'deep %d', x)
end

function caller_blamed()
  throwAsCaller(MException('blame:id', 'blamed'))
end
