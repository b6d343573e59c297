n = regexp('01/11/2000 20-02-2020', '(?<month>\d+)/(?<day>\d+)/(?<year>\d+)|(?<day>\d+)-(?<month>\d+)-(?<year>\d+)', 'names');
disp(numel(n)), disp(n(1).day), disp(n(2).day), disp(fieldnames(n)')
[a, b, extents] = regexp('foo12', '([a-z]+)(\d+)'); disp(a), disp(b), disp(extents{1})
disp(isempty(regexp('ab', 'x*', 'match'))), disp(numel(regexp('ab', 'x*', 'match', 'emptymatch')))
disp(numel(regexp(sprintf('a\nb'), 'a.b', 'match'))), disp(numel(regexp(sprintf('a\nb'), 'a.b', 'match', 'dotexceptnewline')))
disp(numel(regexp(sprintf('a\nb'), '^\w$', 'match', 'lineanchors')))
disp(regexprep('abc', '^', 'x')), disp(regexprep('abc', '^', 'x', 'emptymatch'))
disp(double(regexprep('a,b', ',', '\n'))), disp(regexprep('a.b', '\.', '\\')), disp(regexprep('ab', 'a', '\$1'))
disp(regexprep('abc', {'a', 'b'}, {'1', '2'})), disp(regexprep({'aa', 'ba'}, 'a', 'z'))
[x, y] = regexp({'a1', 'b22'}, '\d+', 'match', 'start'); disp(x{2}{1}), disp(y{2})
disp(regexp('word wordy', '\<word\>', 'match')), disp(regexp('x=1', '(\w)=(\d)', 'tokens', 'once'))
disp(regexprep('John Smith', '(?<first>\w+) (?<last>\w+)', '$<last>, $<first>'))
try, regexp('a', '('), catch e, disp(e.identifier), end
try, regexp('a', 'a', 'nonsense'), catch e, disp(e.identifier), end
