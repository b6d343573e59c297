"""Call forms whose meaning MATLAB's documentation states. Oracle: that documentation, by hand.

Each line is a call and the value that the documentation gives it: equal in class, size and
elements.
"""

import re

import numpy as np
import pytest

from matlab_frontend.errors import MatlabError
from matlab_frontend.run import run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source


def run(code):
    printed = []
    found = run_source(Source(code), {}, Session(write=printed.append))
    return found, "".join(printed)


VALUES = """
1 ./ mod([-0 -5 5 0 -0], [5 5 -5 -5 0])         | [Inf Inf -Inf -Inf -Inf]
1 ./ mod([5.5 -5.5 0.3 -0.3], [-5.5 5.5 -0.1 0.1]) | [-Inf Inf -Inf Inf]
1 ./ rem([-0 -5 5 -5.5 -0.3 0.3], [5 5 -5 5.5 0.1 -0.1]) | [-Inf -Inf Inf -Inf -Inf Inf]
1 ./ [mod(5, -5) mod(-5, 5) mod(0, -5) mod(-0, 5) rem(-5, 5)] | [-Inf Inf -Inf Inf -Inf]
int64(81997179153022975) - int64(81997179153022970)   | int64(5)
[int64(-9007199254740993) + int64(9007199254740992), 0] | int64([-1 0])
uint64(18446744073709551615) - uint64(18446744073709551610) | uint64(5)
int64(99999999999999999999) == intmax('int64')  | true
isequal(uint64(9007199254740993), uint64(9007199254740992)) | false
arrayfun(@(k) struct('v', k), 1:3)              | struct('v', {1, 2, 3})
arrayfun(@(k) struct('v', k), [1; 2])           | struct('v', {1; 2})
arrayfun(@(q) q^2, 1:5000)                      | (1:5000).^2
cell2mat(num2cell(1:5000))                      | 1:5000
arrayfun(@(c) c, 'abc')                         | 'abc'
arrayfun(@(x) x * 2, single([1 2]))             | single([2 4])
sortrows({'b' 'x'; 'a' 'y'; 'a' 'x'})           | {'a' 'x'; 'a' 'y'; 'b' 'x'}
sortrows({'b' 'x'; 'a' 'y'; 'a' 'x'}, [1 -2])   | {'a' 'y'; 'a' 'x'; 'b' 'x'}
sortrows(["b" "x"; "a" "y"], 2, 'descend')      | ["a" "y"; "b" "x"]
sortrows([3 1; 1 2; 2 0], 'descend')            | [3 1; 2 0; 1 2]
sortrows([3 1; 1 2; 1 0], [1 2], {'ascend' 'descend'}) | [1 2; 1 0; 3 1]
duration({'01:30:00', '00:15:00'})              | duration([1 0], [30 15], [0 0])
size(duration({'01:30:00'; '00:15:00'}))        | [2 1]
size(strings(2, 3))                             | [2 3]
strings(1, 2)                                   | ["" ""]
size(table('Size', [4 3], 'VariableTypes', {'double', 'string', 'logical'})) | [4 3]
table('Size', [2 1], 'VariableTypes', "int8", 'VariableNames', "n").n | int8([0; 0])
[ispc isunix ismac isdeployed usejava('jvm')]   | [false true false false false]
verLessThan('matlab', '99.1')                   | true
histcounts([1 2 2 3 5], [0 2 4 6])              | [1 3 1]
num2str([1 2; 3 4], '%d')                       | ['12'; '34']
num2str([1 2; 3 4], '%d ')                      | ['1 2'; '3 4']
num2str([1.5 22.25], '%8.3f')                   | '1.500  22.250'
num2str([1; 10; 100], '%5d')                    | ['  1'; ' 10'; '100']
num2str(pi, '%10.5f')                           | '3.14159'
var([1 2 3 4], [1 1 1 1])                       | 1.25
var([1 2 3 4], [0 0 1 1])                       | 0.25
var([1 2; 3 6], [1 3], 1)                       | [0.75 3]
var([1 2; 3 6], [1 3], 2)                       | [0.1875; 1.6875]
std([1 2 3 4], [0 0 1 1])                       | 0.5
std([1 NaN 3 4], [1 5 0 1], 'omitnan')          | 1.5
var([1 2 3 4], 1)                               | 1.25
var([1 2 3 4], [])                              | var([1 2 3 4])
strcat(['ab '; 'cd '], 'x')                     | ['abx'; 'cdx']
strcat(['ab '; 'c  '], ['x'; 'y'])              | ['abx'; 'cy ']
strcat({'a '}, 'b')                             | {'a b'}
strcat({'a'}, {'b', 'c'})                       | {'ab', 'ac'}
strcat("a ", 'b')                               | "a b"
strtrim(['  ab '; ' abc '])                     | [' ab'; 'abc']
deblank(['ab   '; 'abc  '])                     | ['ab '; 'abc']
strtrim({' a '; 'b '})                          | {'a'; 'b'}
strtrim([" a " "b "])                           | ["a" "b"]
strtok(["a b" "c d"])                           | ["a" "c"]
regexprep('hello world', '(\\w)(\\w*)', '${upper($1)}$2') | 'Hello World'
regexprep('a12b7', '\\d+', '${num2str(2*str2double($0))}') | 'a24b14'
regexp("a1b22", '\\d+', 'match')                | ["1" "22"]
regexp('a1b22', '\\d+', 'match')                | {'1', '22'}
regexp("a1b22", '\\d+', 'match', 'once')        | "1"
regexp("k=v", '(\\w)=(\\w)', 'tokens')          | {["k" "v"]}
regexp("a,b", ',', 'split')                     | ["a" "b"]
regexp(["a1" "b22"], '\\d+', 'match')           | {"1", "22"}
regexp({'a1', 'b22'}, {'a', 'b'}, 'match')      | {{'a'}, {'b'}}
strsplit("a,b", ",")                            | ["a" "b"]
strsplit('a  b')                                | {'a', 'b'}
strsplit(sprintf('a\\tb c'))                    | {'a', 'b', 'c'}
strsplit('a,,b', ',', 'CollapseDelimiters', false) | {'a', zeros(1, 0), 'b'}
strsplit('a1b2c', '\\d', 'DelimiterType', 'RegularExpression') | {'a', 'b', 'c'}
strjoin(["a" "b"], "-")                         | "a-b"
strjoin({'a', 'b', 'c'}, {'-', '+'})            | 'a-b+c'
join(["a" "b"; "c" "d"])                        | ["a b"; "c d"]
join(["a" "b"; "c" "d"], 1)                     | ["a c" "b d"]
join(["a" "b"; "c" "d"], '-', 2)                | ["a-b"; "c-d"]
join({'a', 'b'}, '-')                           | {'a-b'}
max([1 NaN 3], [], 'includenan')                | NaN
min([1 NaN 3], [], 2, 'includenan')             | NaN
max([1 NaN 3], [], 'omitnan')                   | 3
max([1 NaN], [0 5], 'includenan')               | [1 NaN]
max([1 5; NaN 2], [], 1, 'includenan')          | [NaN 5]
strncmp('abc', 'abc', 10)                       | true
strncmp('abc', 'abd', 2)                        | true
strncmp('ab', 'abc', 3)                         | false
strncmpi('ABC', 'abc', 9)                       | true
strrep('abc 222 3333', '22', '*')               | 'abc ** 3333'
strrep('aaa', 'aa', 'b')                        | 'bb'
strrep({'aa', 'b'}, 'a', 'x')                   | {'xx', 'b'}
linspace(0, 1, 0)                               | zeros(1, 0)
linspace(0, 1, -3)                              | zeros(1, 0)
linspace(0, 1, 1)                               | 1
linspace(0, 1, 3.9)                             | [0 0.5 1]
linspace(1+2i, 10+10i, 3)                       | [1+2i, 5.5+6i, 10+10i]
rescale([5 5 5])                                | [0 0 0]
rescale([5 5 5], -1, 1)                         | [-1 -1 -1]
rescale([1 2 3], 'InputMin', 2)                 | [0 0 1]
rescale(single([1 2 3]))                        | single([0 0.5 1])
cov(5)                                          | 0
cov([3 3 3])                                    | 0
cov([1 2 3 4])                                  | 5 / 3
cov([1 2 3 4], 1)                               | 1.25
cov([1 2; 3 4; 5 7])                            | [4 5; 5 19 / 3]
cov([1 2 3], [1 2 3])                           | [1 1; 1 1]
cov([1 2], [3 3], 1)                            | [0.25 0; 0 0]
norm([3e200 4e200])                             | 5e200
norm([3e-200 4e-200])                           | 5e-200
norm([3e200 4e200; 0 0], 'fro')                 | 5e200
norm([3e200 4e200], 3) < Inf                    | true
norm([Inf 1])                                   | Inf
vecnorm([3e200; 4e200])                         | 5e200
class(primes(uint8(20)))                        | 'uint8'
class(primes(single(20)))                       | 'single'
factor(uint16(12))                              | uint16([2 2 3])
factorial(single(5))                            | single(120)
nchoosek(int8([1 2 3]), 2)                      | int8([1 2; 1 3; 2 3])
bitand(true, false)                             | false
bitor([true false], false)                      | [true false]
bitxor(true, true)                              | false
hist([1 2 2 3 5])                               | [1 0 2 0 1 0 0 0 0 1]
hist([1 2 2 3 5], 2)                            | [4 1]
hist([0 2 9 2 5 8 7 3 1 9 4 3 5 8 10 0 1 2 9 5 10]) | [4 3 2 1 3 0 1 2 3 2]
hist([1 2 2 3 5], [1 3 5])                      | [3 1 1]
hist([1 2; 2 2; 5 8], 2)                        | [2 2; 1 1]
median(uint8([200 7]))                          | uint8(104)
diff([4 -1; 2 7], 2)                            | 10
diff([1 4 9], 3)                                | []
diff([1 4 9], 1, 1)                             | zeros(0, 3)
toeplitz([1+2i 3-4i])                           | [1+2i, 3-4i; 3+4i, 1+2i]
toeplitz(int8([1 2]))                           | int8([1 2; 2 1])
meshgrid(single([1 2]))                         | single([1 2; 1 2])
nextpow2([1 NaN Inf 5])                         | [0 NaN Inf 3]
nextpow2(single(5))                             | single(3)
polyder([1+2i 3])                               | 1+2i
polyint([2+4i 3])                               | [1+2i, 3, 0]
zscore(int8([1 2 3]))                           | [-1 0 1]
mode(zeros(0, 3))                               | [NaN NaN NaN]
hist([1 2 3])                                   | [1 0 0 0 1 0 0 0 0 1]
gammaln([1 5])                                  | [0 log(24)]
cov([1+2i 3-4i])                                | 20
isreal(cov([1+2i 3-4i]))                        | true
cov(zeros(0, 3))                                | NaN(3)
corrcoef([])                                    | NaN
class(corrcoef(single([1 2 4]), single([1 3 4]))) | 'single'
vander(single([2 3]))                           | single([2 1; 3 1])
hankel(int8([1 2]))                             | int8([1 2; 2 0])
hankel(single([1 2]), [2 5])                    | single([1 2; 2 5])
str2num('no expression (')                      | []
polyder(3)                                      | 0
polyder(single([1 2]))                          | single(1)
polyder([1 2], [1 3])                           | [2 5]
polyint([3 2], 5)                               | [1.5 2 5]
polyint(single([2 2]))                          | single([1 2 0])
perms([])                                       | zeros(1, 0)
trapz([])                                       | 0
trapz(single([1 2]))                            | single(1.5)
trapz([true true])                              | 1
cumtrapz(single([1 2]))                         | single([0 1.5])
vecnorm(zeros(0, 3))                            | [0 0 0]
vecnorm(cat(3, [3 4], [6 8]))                   | cat(3, 5, 10)
class(unwrap(single([0 6])))                    | 'single'
conv([1; 2], [1 3])                             | [1 5 6]
conv([1; 2; 3], [1 3])                          | [1; 5; 9; 9]
conv(int8([100 100]), [1 1])                    | [100 200 100]
conv(single([1 2]), [1 1])                      | single([1 3 2])
conv2([1 2; 3 4], [1 1], 'same')                | [3 2; 7 4]
conv2([1 2; 3 4], [1 1; 1 1], 'same')           | [10 6; 7 4]
conv2([1 2; 3 4], ones(3), 'valid')             | []
conv2([1i 2], [1 1])                            | [1i, 2+1i, 2]
sprintf('%bx', 1)                               | '3ff0000000000000'
sprintf('%tx', 1)                               | '3f800000'
sprintf('%bu', 1)                               | '4607182418800017408'
str2double('i')                                 | 1i
str2double({'2i', '1-i'})                       | [2i, 1-1i]
char('a', '', 'b')                              | ['a'; ' '; 'b']
char(65, 'bc')                                  | ['A '; 'bc']
containers.Map({'a', 'b'}, [1 2]).Count         | uint64(2)
kron(int8([1 2]), int8([100 2]))                | int8([100 2 127 4])
kron(single(2), [1 2; 3 4])                     | single([2 4; 6 8])
kron([1; 2], [1 10])                            | [1 10; 2 20]
sort([3+4i 1 -5], 'descend')                    | [-5 3+4i 1]
sort([1i -1 1], 'descend')                      | [-1 1i 1]
logspace(0, pi, 3)                              | [1 sqrt(pi) pi]
interp1([1 2 3], [1 2; 3 4; 5 6], 1.5)          | [2 3]
interp1([1 2 3], [1 2; 3 4; 5 6], [0; 2])       | [NaN NaN; 3 4]
interp1([1 2; 3 4], 1.5)                        | [2 3]
lu([4 3; 6 3])                                  | [6 3; 2/3 1]
lu([2 1; 4 2; 6 9])                             | [6 9; 2/3 -4; 1/3 0.5]
dot([1 2; 3 4], [5 6; 7 8], 2)                  | [17; 53]
isvarname('for')                                | false
isvarname('fort')                               | true
flintmax('single')                              | single(16777216)
eps('single')                                   | single(2^-23)
struct2cell(struct('a', {1, 2}))                | cat(3, {1}, {2})
sub2ind([2 3 4], 1, 5)                          | 9
unique([3 4; 1 2; 3 4], 'rows', 'stable')       | [3 4; 1 2]
unique({'z', 'a', 'z'}, 'stable')               | {'z', 'a'}
strfind('abc', 'b', 'ForceCellOutput', true)    | {2}
cast(1.5, 'like', int8(1))                      | int8(2)
max([1 NaN], [0 5], 'omitnan')                  | [1 5]
sub2ind([2 3], 1, 2, 1)                         | 3
size(cell2mat({[1 2]; [3 4]}))                  | [2 2]
newline                                         | char(10)
reverse('abc')                                  | 'cba'
reverse(["ab" "cd"])                            | ["ba" "dc"]
replace('a-b-c', '-', '+')                      | 'a+b+c'
replace("one two", ["one" "two"], ["1" "2"])    | "1 2"
replace({'aa', 'ba'}, 'a', 'x')                 | {'xx', 'bx'}
erase('the quick', 'quick')                     | 'the '
erase("a b c", ["a " "c"])                      | "b "
count('banana', 'an')                           | 2
count(["Ab" "abab"], 'ab', 'IgnoreCase', true)  | [1 2]
matches(["a" "b"], ["b" "c"])                   | [false true]
extractBefore('name.ext', '.')                  | 'name'
extractAfter("name.ext", '.')                   | "ext"
extractBefore('abcdef', 3)                      | 'ab'
extractAfter('abcdef', 3)                       | 'def'
extractBefore('abc', 'x')                       | ''
extractBetween('<a><b>', '<', '>')              | {'a'; 'b'}
extractBetween("<a><b>", '<', '>')              | ["a"; "b"]
extractBetween("abcdef", 2, 4)                  | "bcd"
extractBetween("a(b)c", "(", ")", 'Boundaries', 'inclusive') | "(b)"
eraseBetween('a(b)c', '(', ')')                 | 'a()c'
replaceBetween('a(b)c', '(', ')', 'x')          | 'a(x)c'
replaceBetween("abcdef", 2, 4, "-")             | "a-ef"
insertAfter('ab', 1, '-')                       | 'a-b'
insertAfter("aXbX", 'X', '!')                   | "aX!bX!"
insertBefore('ab', 'b', '-')                    | 'a-b'
pad('ab', 4)                                    | 'ab  '
pad(["a" "bcd"])                                | ["a  " "bcd"]
pad('7', 3, 'left', '0')                        | '007'
pad("ab", 5, 'both')                            | " ab  "
strip('  a ')                                   | 'a'
strip("xxax", 'x')                              | "a"
strip('00120', 'left', '0')                     | '120'
append('a ', 'b')                               | 'a b'
append("a", ["b" "c"])                          | ["ab" "ac"]
splitlines("a" + newline + "b")                 | ["a"; "b"]
compose("%d-%d", [1 2; 3 4])                    | ["1-2"; "3-4"]
compose('%g', [1.5 2])                          | {'1.5', '2'}
compose("a\\tb")                              | "a" + char(9) + "b"
isStringScalar("a")                             | true
convertStringsToChars(["a" "b"])                | {'a', 'b'}
convertCharsToStrings({'a', 'b'})               | ["a" "b"]
class(fft2(single([1 2; 3 4])))                 | 'single'
fft2([1 2; 3 4], 3, 2)                          | fft(fft([1 2; 3 4; 0 0]), [], 2)
fftn([1 2; 3 4])                                | fft2([1 2; 3 4])
ifftn(fftn(reshape(1:8, 2, 2, 2)))              | reshape(1:8, 2, 2, 2)
repelem([1 2 3], 2)                             | [1 1 2 2 3 3]
repelem([1; 2], [2 1])                          | [1; 1; 2]
repelem([1 2; 3 4], 1, 2)                       | [1 1 2 2; 3 3 4 4]
repelem('ab', 2)                                | 'aabb'
size(shiftdim(ones(1, 1, 3)))                   | [3 1]
size(shiftdim(ones(2, 3, 4), 1))                | [3 4 2]
size(shiftdim([1 2 3], -2))                     | [1 1 1 3]
prctile([1 2 3 4 5], [10 50 90])                | [1 3 5]
prctile([1 2; 3 4; 5 NaN], 50)                  | [3 3]
quantile([1; 2; 3; 4], [0.25 0.5])              | [1.5 2.5]
quantile([1 2 3 4; 5 6 7 8], 0.5, 2)            | [2.5; 6.5]
quantile(1:10, 3)                               | [3 5.5 8]
iqr([1 2 3 4])                                  | 2
ismissing([1 NaN])                              | [false true]
ismissing({'a', ''})                            | [false true]
rmmissing([1 NaN 3])                            | [1 3]
rmmissing([1 2; NaN 4])                         | [1 2]
fillmissing([1 NaN 3 NaN], 'linear')            | [1 2 3 4]
fillmissing([NaN 1 NaN], 'previous')            | [NaN 1 1]
fillmissing([NaN 1 NaN], 'next')                | [1 1 NaN]
fillmissing([1 NaN NaN 4], 'nearest')           | [1 1 4 4]
fillmissing([1 NaN], 'constant', 7)             | [1 7]
discretize([1 2 3 4 5 NaN], [1 3 5])            | [1 1 2 2 2 NaN]
discretize([1 3], [1 3 5], [10 20])             | [10 20]
discretize([1 3 5], [1 3 5], 'IncludedEdge', 'right') | [1 1 2]
findgroups([30 10 30 NaN])                      | [2 1 2 NaN]
findgroups({'b'; 'a'; 'b'})                     | [2; 1; 2]
splitapply(@sum, [1; 2; 3; 4], [1; 2; 1; 2])    | [4; 6]
gradient([1 4 9 16])                            | [3 4 6 7]
gradient([1 4 9], 2)                            | [1.5 2 2.5]
gradient([1 4 9], [0 1 3])                      | [3 8/3 2.5]
del2([1 4 9 16 30])                             | [0.5 0.5 0.5 1.75 3]
del2([1 2 5; 3 7 9; 4 6 2])                     | del2([1 2 5; 3 7 9; 4 6 2]')'
cart2pol(0, 2)                                  | pi/2
pow2(3)                                         | 8
pow2([1 3], [2 4])                              | [4 48]
rat(pi)                                         | '3 + 1/(7 + 1/(16))'
rat(0.75)                                       | '1 + 1/(-4)'
sqrtm([4 1; 0 9])                               | [2 0.2; 0 3]
logm(eye(2))                                    | zeros(2)
interp2([1 2; 3 4], 1.5, 1.5)                   | 2.5
interp2([10 20], [1 2 3], [1 2; 3 4; 5 6], [10 15], [1.5; 3]) | [2 2.5; 5 5.5]
interp2([1 2; 3 4], 3, 1)                       | NaN
interp2([1 2; 3 4], 1.6, 1, 'nearest')          | 2
interp2([1 2; 3 4], 3, 1, 'linear', 0)          | 0
ppval(mkpp([0 1 3], [1 0; 2 1]), [0.5 2])       | [0.5 3]
ppval(spline(0:4, [0 1 4 9 16]), 2.5)           | 6.25
spline(0:2, [0 0 1 4 0], 1.5)                   | 2.875
pchip([1 2 4 5], [1 4 2 3], 3)                  | 3
round(1e6*integral2(@(x, y) x.*y, 0, 1, 0, 2))  | 1e6
round(1e6*integral2(@(x, y) y, 0, 1, 0, @(x) x))| round(1e6/6)
round(1e6*integral3(@(x, y, z) x + y + z, 0, 1, 0, 1, 0, 1)) | 1.5e6
round(1e6*quadgk(@(x) exp(-x.^2), -Inf, Inf))   | round(1e6*sqrt(pi))
round(1e6*fsolve(@(x) x^2 - 2, 1))              | round(1e6*sqrt(2))
round(1e6*fsolve(@(x) [x(1) + x(2) - 3; x(1)*x(2) - 2], [0; 3])) | [1e6; 2e6]
"""
CASES = [tuple(part.strip() for part in line.split("|")) for line in VALUES.strip().splitlines()]


@pytest.mark.parametrize(("call", "expected"), CASES, ids=[call for call, _ in CASES])
def test_a_call_gives_what_is_documented(call, expected):
    call, expected = (code.replace("\\\\", "\\") for code in (call, expected))
    found, _ = run(
        f"a = {call}; b = {expected}; same = isequaln(a, b);"
        "alike = isequal(class(a), class(b)) && isequal(size(a), size(b));"
    )
    near = (
        found["same"]
        or run(f"d = max(abs({call} - ({expected}))); ok = d <= 1e-14 * max(abs({expected}));")[0][
            "ok"
        ]
    )
    assert near
    assert found["alike"]


REFUSED = {
    "anonymous functions without an argument": ("f = @(x, y) x + y; f(1)", "MATLAB:minrhs"),
    "captured names do not stand in": ("y = 5; f = @(x, y) x + y; f(1)", "MATLAB:minrhs"),
    "negative weights": ("var([1 2], [1 -1])", "MATLAB:var:invalidWgts"),
    "weights of another length": ("var([1 2], [1 1 1])", "MATLAB:var:invalidSizeWgts"),
    "matrices of characters": ("strtok(['ab'; 'cd'])", "MATLAB:strtok:InvalidInput"),
    "outputs of the screen": ("x = axis;", "MATLAB:graphics:noScreen"),
    "colors of the screen": ("x = colormap('jet');", "MATLAB:graphics:noScreen"),
    "options of hist": ("n = hist([1 2], 2, 1);", "MATLAB:hist:options"),
    "norms of matrices": ("norm([1 2; 3 4], 3)", "MATLAB:norm:unknownNorm"),
    "medians of complex numbers": ("median([1i 2])", "MATLAB:median:complex"),
    "primes among fractions": ("isprime(2.5)", "MATLAB:isprime:InputNotPosInt"),
    "texts joined with numbers": ("strcat({'a'}, 5)", "MATLAB:strcat:InvalidInputType"),
    "rows of characters searched": ("startsWith(['ab'; 'cd'], 'a')", "MATLAB:invalidType"),
    "rows of characters as one text": ("regexp(['ab'; 'cd'], 'b')", "MATLAB:invalidType"),
    "pages of a diagonal": ("diag(ones(1, 2, 2))", "MATLAB:diag:firstInputMustBe2D"),
    "complex integers": ("int32([1+2i 3])", "MATLAB:complexIntegers"),
    "gammaln below zero": ("gammaln(-0.5)", "MATLAB:gammaln:Negative"),
    "covariances of pages": ("cov(ones(2, 2, 2))", "MATLAB:cov:InputDim"),
    "sizes in a matrix": ("ones([1 2; 3 4])", "MATLAB:NonRowInput"),
    "sizes in nothing": ("zeros([])", "MATLAB:NonRowInput"),
    "identities with pages": ("eye([2 2 2])", "MATLAB:eye:NDArrays"),
    "polynomials in matrices": ("roots([1 2; 3 4])", "MATLAB:polynomial:vector"),
    "integrals of integers": ("trapz(uint8([250 7]))", "MATLAB:trapz:integers"),
    "positions without subscripts": ("sub2ind([2 3])", "MATLAB:minrhs"),
    "blanks of numbers": ("strtrim(3)", "MATLAB:strtrim:InputClass"),
    "blanks at the end of numbers": ("deblank(3)", "MATLAB:deblank:InputClass"),
    "normalized integers": ("normalize(int8([1 2]))", "MATLAB:normalize:class"),
    "distances of integers": ("eps(int8(3))", "MATLAB:eps:InputClass"),
    "angles of integers": ("unwrap(int8([1 9]))", "MATLAB:unwrap:class"),
    "bits of two classes": ("bitand(uint8(1), int8(1))", "MATLAB:bitand:mixedClasses"),
    "samples of another length": ("interp1(1:3, 1:4, 2)", "MATLAB:interp1:YInvalidNumRows"),
    "two unknown extents": ("reshape(1:4, [], [])", "MATLAB:getReshapeDims:unknownDim"),
    "divisors of fractions": ("gcd(1.5, 2)", "MATLAB:gcd:mustBeInteger"),
    "groups between groups": ("accumarray([1.5; 1], 1)", "MATLAB:accumarray:nonIntegerSubs"),
    "convolved matrices": ("conv([1 2; 3 4], [1 1])", "MATLAB:conv:AorBNotVector"),
    "divisors that begin with zero": ("deconv([1 2], [0 1])", "MATLAB:deconv:ZeroCoef1"),
    "samples at one place": (
        "interp1([1 1], [1 2], 1)",
        "MATLAB:griddedInterpolant:NonUniqueCompVecsPtsErrId",
    ),
    "blanks of numbers in cells": ("strtrim({1})", "MATLAB:cellOfTexts"),
    "rows of cells": ("unique({'a'}, 'rows')", "MATLAB:unique:rows"),
    "blocks that do not add up": ("mat2cell(1:4, 1, [2 1])", "MATLAB:mat2cell:VectorSumMismatch"),
    "unknown orders": ("sort([1 2], 'up')", "MATLAB:sort:options"),
    "unknown options of sort": ("sort([1 2], 'MissingPlacement', 'first')", "MATLAB:sort:options"),
    "replacements in numbers": ("strrep(1, 'a', 'b')", "MATLAB:strrep:InputClass"),
    "imaginary parts that would be lost": ("hypot(1i, 2)", "MATLAB:hypot:complex"),
    "parts of numbers": ("extractBefore(5, 'a')", "MATLAB:extractBefore:InvalidInput"),
    "parts that are missing": ('extractAfter("a", "b")', "MATLAB:extractAfter:missing"),
    "positions outside": ("extractBefore('abc', 4)", "MATLAB:extractBefore:Position"),
    "filling with several": ("pad('a', 3, 'left', 'xy')", "MATLAB:pad:options"),
    "boundaries of another kind": (
        "extractBetween('abc', 'a', 'c', 'Boundaries', 'both')",
        "MATLAB:extractBetween:unknownOption",
    ),
    "copies of a matrix": ("repelem([1 2; 3 4], 2)", "MATLAB:repelem:mustBeVector"),
    "probabilities above one": ("quantile([1 2], 1.5)", "MATLAB:quantile:BadProbs"),
    "bins that are chosen": ("discretize([1 2], 3)", "MATLAB:discretize:InvalidEdges"),
    "methods of interp2": (
        "interp2([1 2; 3 4], 1, 1, 'makima')",
        "MATLAB:interp2:unknownOption",
    ),
    "methods of fillmissing": (
        "fillmissing([1 NaN], 'spline')",
        "MATLAB:fillmissing:unknownOption",
    ),
    "groups with gaps": (
        "splitapply(@sum, [1; 2], [1; 3])",
        "MATLAB:splitapply:InvalidGroupNums",
    ),
    "values of no polynomial": ("ppval(struct('a', 1), 1)", "MATLAB:ppval:notpp"),
    "structs with other fields": (
        "s = struct('b', {1, 2}); s(3) = struct('a', 1);",
        "MATLAB:heterogeneousStrucAssignment",
    ),
    "results with other fields": (
        "arrayfun(@(k) setfield(struct('a', 1), char('a' + k), 1), 1:2)",
        "MATLAB:heterogeneousStrucAssignment",
    ),
    "sizes of tables without types": ("table('Size', [2 1])", "MATLAB:table:InvalidSize"),
    "types of no variables": (
        "table('Size', [2 1], 'VariableTypes', 'thing')",
        "MATLAB:table:InvalidVarType",
    ),
    "directions of nothing": ("sortrows([1 2], 'up')", "MATLAB:sortrows:InvalidDirection"),
    "solutions outside their times": (
        "deval(ode45(@(t, y) -y, [0 1], 1), 2)",
        "MATLAB:deval:SolOutsideInterval",
    ),
    "solutions of nobody": ("deval(struct('x', 1), 2)", "MATLAB:deval:SolNotFromDiffEqSolver"),
    "versions of other things": (
        "verLessThan('simulink', '1')",
        "MATLAB:verLessThan:toolboxNotFound",
    ),
    "unknown options of rescale": ("rescale([1 2], 'Size', 1)", "MATLAB:rescale:InvalidOption"),
}


@pytest.mark.parametrize(("code", "identifier"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_meant_or_not_supported_is_an_error(code, identifier):
    with pytest.raises(MatlabError) as raised:
        run(code)
    assert raised.value.identifier == identifier


OPTIONS = """
sum([1 2]); prod([1 2]); mean([1 2]); median([1 2]); std([1 2]); var([1 2]); any([0 1]); all([0 1])
max([1 2], [], 2); min([1 2], 3); cumsum([1 2]); cumprod([1 2]); cummax([1 2]); sort([2 1])
unique([1 1]); unique({'a', 'b'}); union([1 2], 3); intersect([1 2], 2); setdiff([1 2], 2)
setxor([1 2], 2); ismember(1, [1 2]); ismember('a', {'a'}); find([0 1], 1); accumarray([1; 2], 1)
accumarray([1; 2], 1, [2 1]); interp1(1:3, 1:3, 2, 'linear'); conv([1 2], [3 4]); strfind('a', 'b')
conv2([1 2], [3 4]); cellfun(@numel, {'a'}); arrayfun(@abs, 1:2); cast(1, 'int8'); size([1 2])
structfun(@abs, struct('a', 1)); mat2cell(1:4, 1, [2 2]); integral(@sin, 0, 1); exist('sin')
svd([1 2; 3 4]); qr([1 2; 3 4]); chol([2 1; 1 2]); sscanf('1', '%d'); zeros(2, 'single'); eye(2)
ones(1, 2, 'like', single(1)); rescale([1 2]); cov([1 2; 3 5]); hist([1 2], 2); NaN(2, 'double')
array2table(1); cell2table({1}); struct2table(struct('a', 1)); varfun(@sum, table([1; 2]))
histcounts(1:3, 0:2); contains('a', 'a'); startsWith('a', 'a'); endsWith('a', 'a'); fzero(@sin, 3)
optimset('TolX', 1); ode45(@(t, y) -y, [0 1], 1); datetime(2020, 1, 1); duration(1, 2, 3)
containers.Map('a', 1); sortrows([1 2], 1); regexp('a', 'a'); jsonencode(1); strsplit('a b', ' ')
fillmissing([1 NaN], 'linear'); movmean([1 2], 1); textscan('1', '%f'); innerjoin(T, T); join(T, T)
"""


@pytest.mark.parametrize("call", re.findall(r"[\w.]+\(.*?\)(?=;|$)", OPTIONS, re.MULTILINE))
def test_an_option_that_a_builtin_does_not_know_is_an_error(call):
    table = "T = table([1; 2]);"
    run(f"{table} x = {call};")
    for option in ("'noSuchOption'", "'noSuchOption', 1"):
        with pytest.raises(MatlabError):
            run(f"{table} x = {call[:-1]}, {option});")


SECOND = {
    "two outputs of unique 'last'": ("[c, i] = unique([5 5 7], 'last'); x = i';", [2, 3]),
    "of unique texts 'last'": ("[c, i] = unique({'z', 'a', 'z'}, 'last'); x = i';", [2, 3]),
    "of unique rows 'stable'": (
        "[c, i] = unique([3 4; 1 2; 3 4], 'rows', 'stable'); x = i';",
        [1, 2],
    ),
    "three of unique rows": (
        "[c, i, j] = unique([3 4; 1 2; 3 4], 'rows', 'stable'); x = j';",
        [1, 2, 1],
    ),
    "three of unique texts": ("[c, i, j] = unique({'z', 'a', 'z'}); x = j';", [2, 1, 2]),
    "of rat": ("[n, d] = rat([pi -1.5]); x = [n d];", [355, -3, 113, 2]),
    "of findgroups": ("[g, x] = findgroups([30 10 30]);", [10, 30]),
    "of gradient": ("[a, b] = gradient([1 4; 2 7], 2, 3); x = b(:)';", [1 / 3, 1 / 3, 1, 1]),
    "of splitapply": (
        "[a, b] = splitapply(@max, [5; 2; 9], [1; 1; 2]); x = [a' b'];",
        [5, 9, 1, 1],
    ),
    "of cart2sph": ("[a, b, c] = cart2sph(0, 0, 2); x = [a b c];", [0, np.pi / 2, 2]),
    "of schur": (
        "A = [1 2; 3 4]; [U, T] = schur(A); x = round(1e9*reshape(U*T*U' - A, 1, 4)) + 1;",
        [1, 1, 1, 1],
    ),
    "of sortrows": ("[~, k] = sortrows({'b'; 'a'; 'c'}); x = k';", [2, 1, 3]),
    "three of polyfit": (
        "[p, S, mu] = polyfit(1:4, [2 4 6 8], 1); x = round([p S.df mu'], 4);",
        [2.582, 5, 2, 2.5, 1.291],
    ),
    "of polyval": (
        "[p, S] = polyfit(1:4, [1 3 2 4], 1); [~, d] = polyval(p, 2.5, S); x = round(d, 4);",
        1.0607,
    ),
    "of deval": (
        (
            "[y, d] = deval(ode45(@(t, y) [-y(1); 2*y(2)], [0 1], [1; 1]), [0 0.5 1]);"
            "x = max(max(abs([y - [exp(-[0 .5 1]); exp(2*[0 .5 1])]; d - [-1; 2] .* y]))) < 1e-2;"
        ),
        True,
    ),
    "states of warnings": (
        (
            "a = warning('off', 'x:y'); b = warning('query', 'x:y'); warning(a);"
            "x = double([a.state ' ' b.state ' ' warning('query', 'x:y').state]);"
        ),
        [ord(c) for c in "on off on"],
    ),
    "what clearvars leaves": (
        "a = 1; ab = 2; b = 3; clearvars a* -except ab; x = [exist('a') exist('ab') exist('b')];",
        [0, 1, 1],
    ),
    "of sort": ("[s, x] = sort([3+4i 1 -5], 'descend');", [3, 1, 2]),
}


@pytest.mark.parametrize(("code", "expected"), SECOND.values(), ids=SECOND)
def test_further_outputs_follow_the_options(code, expected):
    assert np.ravel(run(code)[0]["x"]).tolist() == np.ravel(expected).tolist()


def test_hist_gives_the_centers_too():
    found, _ = run("[n, c] = hist([1 2 2 3 5], 2);")
    assert found["n"].tolist() == [[4, 1]]
    assert found["c"].tolist() == [[2, 4]]


def test_mode_gives_counts_and_ties():
    found, _ = run("[m, f, c] = mode([1 2 2 3 3]); same = isequal(c, {[2; 3]});")
    assert (found["m"], found["f"], found["same"]) == (2, 2, True)


def test_chol_gives_the_factor_of_the_block_that_is_positive_definite():
    found, _ = run("[r, p] = chol([4 2 0; 2 2 3; 0 3 1]); same = isequal(r, [2 1; 0 1]);")
    assert (found["p"], found["same"]) == (3, True)


RECURSIVE = """
y = f(60); n = count();
function y = f(k)
  persistent known
  if isempty(known), known = zeros(1, 100); end
  count();
  if k <= 2, y = 1; return, end
  if known(k) == 0
    known(k) = f(k - 1) + f(k - 2);
  end
  y = known(k);
end
function n = count()
  persistent calls
  if isempty(calls), calls = 0; end
  calls = calls + 1;
  n = calls;
end
"""


def test_a_recursion_shares_its_persistent_variables():
    found, _ = run(RECURSIVE)
    assert found["y"] == 1548008755920
    assert found["n"] <= 2 * 60


def test_an_inner_call_changes_what_the_outer_one_sees():
    found, _ = run("""
a = f(3);
function seen = f(k)
  persistent n
  if isempty(n), n = 0; end
  n = n + 1;
  if k > 1, f(k - 1); end
  seen = n;
end
""")
    assert found["a"] == 3


def test_wide_cells_are_shown_in_groups_of_columns():
    _, shown = run("c = num2cell(1:20)")
    groups = ((1, 8), (9, 16), (17, 20))
    parts = [
        f"  Columns {first} through {last}\n\n"
        + "".join(f"    {{[{k}]}}" for k in range(first, last + 1))
        for first, last in groups
    ]
    assert shown.partition("cell array")[2] == "\n\n" + "\n\n".join(parts) + "\n\n"
