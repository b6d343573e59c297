disp(first_negative([1 2 -3 4]));
disp(isempty(first_negative([1 2])));
function r = first_negative(v)
  r = [];
  for k = 1:numel(v)
    if v(k) < 0
      r = v(k);
      return
    end
  end
end
