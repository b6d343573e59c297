a = intmax('int64');
fprintf('%d\n', a);
fprintf('%d\n', a - int64(1), a + int64(1));
fprintf('%d\n', intmax('uint64'), intmin('int64'));
fprintf('%d\n', int64(10) / int64(4), int64(3) * int64(5));
