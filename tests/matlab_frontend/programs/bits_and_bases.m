fprintf('%s\n', dec2bin(5), dec2bin(5, 8), dec2hex(255));
fprintf('%d\n', bin2dec('101'), hex2dec('1F'), bitand(6, 3), bitor(6, 3), bitxor(6, 3), bitshift(1, 4), bitshift(16, -2));
disp(dec2bin([1; 2; 3]));
fprintf('%d\n', 0x1F, 0b101);
disp(class(0x1F));
