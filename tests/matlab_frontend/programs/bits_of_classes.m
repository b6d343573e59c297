disp(bitcmp(uint8(5))), disp(bitcmp(int8(5))), disp(class(bitcmp(uint16(1))))
disp(bitget(5, 1:4)), disp(bitset(0, 3)), disp(bitset(uint8(255), 1, 0))
disp(bitshift(uint8(255), 1)), disp(bitshift(16, -2))
disp(typecast(single(1), 'uint32')), disp(typecast(uint8([0 0 128 63]), 'single'))
disp(typecast(uint8([1 0 2 0]), 'uint16')), disp(swapbytes(uint16(1)))
try, bitand(1.5, 1), catch e, disp(e.message), end
