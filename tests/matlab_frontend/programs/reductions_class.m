disp(class(sum(int32([1 2]), 'native')));
disp(class(sum(single([1 2]))));
disp(class(mean(single([1 2]))));
disp(class(sum([true false])));
disp(sum([true true false]));
disp(class(max(int8([1 2]))));
disp(class(any([1 0])));
