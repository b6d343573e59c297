% onCleanup runs when its function ends, however it ends.
works()
try
  fails()
catch e
  disp(e.message)
end
c = onCleanup(@() disp('cleared'));
clear c
disp('after clear')
c = onCleanup(@() disp('replaced'));
c = 1;
disp('after the assignment')
k = keeps();
disp('kept')
clear k
s.c = onCleanup(@() disp('in a struct'));
s = 3;
d = onCleanup(@() error('an error in a task'));
clear d
disp('still here')
shown = onCleanup(@() disp('last'))
early(true)
nested_cleanup()
disp('end of the program')

function works()
  c = onCleanup(@() disp('cleanup of works'));
  disp('works')
end

function fails()
  c = onCleanup(@() disp('cleanup of fails'));
  error('failed')
end

function k = keeps()
  k = onCleanup(@() disp('cleanup of what was kept'));
end

function early(x)
  c = onCleanup(@() disp('cleanup of an early return'));
  if x, return, end
  disp('not reached')
end

function nested_cleanup()
  a = onCleanup(@() disp('outer cleanup'));
  works()
end
