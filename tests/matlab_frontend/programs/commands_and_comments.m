% a comment
x = 1; % after a statement
%{
a block
%}
y = [1, 2, ... continued
     3];
format long
format short
close all
clc
hold on
clear x
disp(exist('x', 'var'));
disp(numel(y));
warning off
if true, disp('one line'), end
