disp(int64(2)^53 + 1), disp(int64(9007199254740993) * 2), disp(int64(7) / 2), disp(int64(-7) / 2)
disp(int64(5) / 0), disp(int64(0) / 0), disp(int64(5) * NaN), disp(intmax('int64') + 1)
disp(uint64(5) - 10), disp(int64(2)^0.5), disp(int64(3)^41), disp(int64(-3)^41), disp(int64(2)^-1)
disp(intmax('int64') / 2), disp(int64(1) * 0.1), disp(intmax('int64') * 0.5)
