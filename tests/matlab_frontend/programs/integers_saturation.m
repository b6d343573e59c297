fprintf('%d\n', int8(100) + int8(100), int8(-100) - int8(100), uint8(3) - uint8(5));
fprintf('%d\n', int32(7) / int32(2), int32(-7) / int32(2), int32(5) * 0.3, uint8(2.5), uint8(3.5));
fprintf('%s\n', class(int8(1) + 1), class(single(1) + 1), class(true + true), class('a' + 1));
fprintf('%d\n', intmax('int32') + 1, intmin('int8') - 1, int16(NaN), uint8(-Inf));
fprintf('%d\n', idivide(int32(7), int32(2)), mod(int8(-7), int8(3)), bitand(12, 10), bitor(12, 10));
fprintf('%d\n', abs(int8(-128)), -int8(-128));
