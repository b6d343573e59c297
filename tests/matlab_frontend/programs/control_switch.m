values = {1, 'one', 2, 'three'};
for k = 1:numel(values)
  v = values{k};
  switch v
    case 1
      disp('number one');
    case {'one', 'two'}
      disp('word one or two');
    case {2, 3}
      disp('number two or three');
    otherwise
      disp('something else');
  end
end
