f = @(x) x.^2 + 1
g = @sin
