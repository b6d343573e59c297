fprintf('%.6f ', sech(1), csch(1), coth(1), asec(2), acsc(2), acot(2), asech(0.5), acsch(2), acoth(2)), fprintf('\n');
fprintf('%.6f ', asind(0.5), acosd(0.5), atand(1), sind([30 180 270]), cosd([60 90]), tand([45 135])), fprintf('\n');
fprintf('%.6f ', beta(2, 3), betaln(2, 3), gammainc(1, 2), gammainc(1, 2, 'upper'), erfcx(1), psi(1)), fprintf('\n');
disp(gamma([0.5 0 -1 5])), disp(tand(90)), fprintf('%.6f ', besselj(0, 1), bessely(1, 2)), fprintf('\n');
disp(asec(0.5)), disp(asin(2)), disp(acos([-2 0.5 2])), disp(atanh(2)), disp(acosh(-2)), disp(class(gamma(single(5))))
