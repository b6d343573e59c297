% elementwise(x)
y0 = sin(x) .* exp(-x / 10);
y1 = y0 .* cos(x / 4) + 0.25 * y0.^2;
result = tanh(y1) + 0.1 * y1;
