A = reshape(1:8, 2, 2, 2)
