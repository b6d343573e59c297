% datetime and duration.
d = datetime(2024, 2, 28)
e = datetime(2024, 2, 28, 13, 5, 9)
r = d + days(0:2)
r(2) - r(1)
span = e - d
hours(span)
t = [d; e]
t'
d + 1 == datetime(2024, 2, 29)
r > d
m = datetime('2024-03-01 06:30:00');
[m.Year m.Month m.Day m.Hour m.Minute m.Second]
m.Format = 'yyyy/MM/dd HH:mm'
disp(m)
k = datetime('15.08.2023', 'InputFormat', 'dd.MM.yyyy')
sorted = sort([k d e], 'descend')
[first, at] = min([e k d])
h = hours(2.5), n = minutes([1 30]), s = seconds(90), y = days(1), z = days(3)
duration(1, 30, 15), duration(0, 90, [0 30])
h + n, 2 * h, h / 2, h / minutes(30), -h, sum(n), n(2) > n(1)
diff(r)
char(d), string(h), cellstr(r(1:2))
x = NaT; isnat(x), isnat(r)
r(5) = d
w = d:d + 3
q = d:hours(12):d + 1
numel(w), size(w), isempty(w), class(w), class(h)
mean(r(1:3))
isequal(d, datetime(2024, 2, 28)), unique([d d e])
dateshift(e, 'start', 'month'), dateshift(e, 'end', 'month'), dateshift(e, 'start', 'hour')
for v = r(1:2), disp(v), end
if d < e, disp('before'), end
s = struct('when', d); s.when
c = {d, h}
datetime(7.4e5, 'ConvertFrom', 'datenum'), datetime(0, 'ConvertFrom', 'posixtime')
[hh, mm, ss] = hms(duration(3, 4, 5.5)); disp([hh mm ss])
timeofday(e), isbetween(e, d, d + 1), isdatetime(d), isduration(d)
z.Format = 'h'
r(1) = []
numel(datetime(2024, 1:3, 1)), year(datetime(2024, 1:3, 1))
calls = {@() sin(d), @() d + d, @() d * 2, @() [d 'no date'], @() d.Nothing, @() h * h, @() h + 'a', ...
  @() datetime(1), @() datetime('x'), @() datetime(2024, 1, 1, 'TimeZone', 'UTC'), @() d{1}, @() 5 - d};
for k = 1:numel(calls), try, calls{k}(); disp('no error'), catch err, fprintf('%s | %s\n', err.identifier, err.message), end, end
for t = d:hours(12):d + 1, disp(t), end
switch d, case datetime(2024, 2, 28), disp('that day'), otherwise, disp('another'), end
