words = {'Delta', 'alpha', 'Charlie'};
[~, k] = sort(lower(words));
for w = words(k), fprintf('%s ', w{1}); end
fprintf('\n');
m = char('one', 'three');
disp(size(m, 2));
disp(['[' m(1, :) ']']);
c = cellstr(m);
disp(numel(c{1}));
disp(strjust_free('  x  '));
disp(any(isletter('12a')));
disp(regexprep('Hello', '(?<first>H)', 'J'));
disp(strcat({'a ', 'b'}, 'x'));
disp(upper({'ab', 'c'}));
disp(strncmpi('ABCdef', 'abcXYZ', 3));
function t = strjust_free(s), t = strtrim(s); end
