disp(cell2mat({1 2; 3 4})), disp(cell2mat({'ab', 'c'}))
try, cell2mat({1, 'a'}), catch e, disp(e.identifier), end
