A = ones(2, 2, 2); A(:, :, 2) = []; disp(size(A))
B = reshape(1:8, 2, 2, 2); disp(size(diff(B, 1, 3))), disp(diff(B, 1, 3)), disp(size(mode(B, 3)))
C = cell(2, 2, 2); C(:, :, 2) = []; disp(size(C)), disp(size(fft(B, 1, 3)))
s(1, 1, 2).a = 1; s(2) = []; disp(size(s))
