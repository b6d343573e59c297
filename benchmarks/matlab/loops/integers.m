c = uint32(4294967295); n = int32(0); t = int8(0);
for k = 1:200000
  c = bitxor(c, mod(k*37, 256));
  b = bitand(c, 1);
  c = bitshift(c, -1);
  if b == 1
    c = bitxor(c, uint32(3988292384));
  end
  n = n + mod(int32(k), 7) - 3;
  t = t + int8(b)*5 - 2;
end
fprintf('%d %d %d\n', c, n, t);
