for k = -1:1
  if k < 0
    disp('negative');
  elseif k == 0
    disp('zero');
  else
    disp('positive');
  end
end
if [1 1 0], disp('all'), else, disp('not all'), end
if [], disp('empty is true'), else, disp('empty is false'), end
if 'a' < 'b', disp('less'), end
