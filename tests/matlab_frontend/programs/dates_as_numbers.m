% datenum, datestr, datevec and their like.
disp(datenum(2024, 2, 29)), disp(datenum([2000 1 1; 1999 12 31])')
fprintf('%.6f\n', datenum(2024, 3, 1, 12, 30, 45.5))
disp(datenum(2024, 14, 1) - datenum(2025, 2, 1)), disp(datenum(2024, 0, 1) - datenum(2023, 12, 1))
disp(datenum(2024, 1:3, 1))
disp(datenum('01-Mar-2024') == datenum(2024, 3, 1))
disp(datenum('2024-03-01 06:00:00') - datenum(2024, 3, 1))
disp(datenum('15/08/2023', 'dd/mm/yyyy') == datenum(2023, 8, 15))
disp(datenum({'01-Jan-2020'; '01-Jan-2021'})')
d = datenum(2024, 7, 4, 15, 5, 9.25);
disp(datestr(d)), disp(datestr(datenum(2024, 7, 4)))
disp(datestr(d, 'yyyy-mm-dd HH:MM:SS.FFF')), disp(datestr(d, 'dddd dd mmmm yyyy'))
disp(datestr(d, 'HH:MM PM')), disp(datestr(d, 'mmm dd, yy'))
for k = [0 1 2 13 14 15 16 23 26 29 30 31], disp(datestr(d, k)), end
disp(datestr([d; d + 1], 29))
disp(datestr([2020 5 6 7 8 9]))
disp(datestr('2021-02-03'))
disp(datevec(d)), disp(datevec('12-Jun-2022 10:20:30'))
[y, m, dd, h, mi, s] = datevec(d); disp([y m dd h mi s])
[n, name] = weekday(d)
[n, name] = weekday('2024-02-29', 'long')
disp(eomday(2024, 1:12)), disp(eomday(1900, 2))
disp(datestr(addtodate(datenum(2024, 1, 31), 1, 'month'))), disp(addtodate(d, 2, 'hour') > d)
disp(datestr(addtodate(datenum(2024, 2, 29), 1, 'year')))
disp(etime([2024 1 1 0 0 0], [2024 1 2 0 0 1.5]))
disp(abs(now - datenum(clock)) < 1e-3), disp(strcmp(date, datestr(now, 1)))
for year = [1 400 1582 1900 2000 2100]
  for month = [1 2 3 12], v = datevec(datenum(year, month, 1)); assert(isequal(v(1:3), [year month 1])), end
end
try, datenum('no date at all'), catch e, disp(e.identifier), end
try, datenum(1, 2), catch e, disp(e.identifier), end
