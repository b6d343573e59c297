% Tables: columns, indexing, display, sorting, joining, summaries.
Name = {'Ann'; 'Bob'; 'Cleo'}; Age = [38; 4; 51]; Smoker = [true; false; true];
T = table(Name, Age, Smoker)
size(T), height(T), width(T), class(T), isempty(T)
T.Age'
T.Age(2) = 5;
T.Height = [1.7; 1.05; 1.625];
disp(T)
T(2:3, {'Name', 'Height'})
T{:, 'Age'}', T{2, {'Age', 'Height'}}
T(T.Age > 20, :)
S = sortrows(T, 'Age')
[S, at] = sortrows(T, {'Smoker', 'Age'}, {'descend', 'ascend'}); disp(S.Name'), disp(at')
T.Properties.VariableNames
T.Properties.VariableNames{4} = 'Tall';
T.Properties.RowNames = {'a', 'b', 'c'}
T({'c', 'a'}, 1:2)
U = table([1; 2; 2], ["x"; "y"; "y"], 'VariableNames', {'Key', 'Text'})
V = table([2; 1], [20; 10], 'VariableNames', {'Key', 'Value'});
join(U, V)
innerjoin(V, U)
[V; {3, 30}]
W = [V; table(4, 40, 'VariableNames', {'Key', 'Value'})]
[V table([7; 8])]
groupsummary(table([1; 2; 1], [5; 6; 7], 'VariableNames', {'g', 'x'}), 'g', {'mean', 'max'})
groupsummary(U, 'Text')
V.Value = [];
V(1, :) = []
X = array2table([1 2; 3 4], 'VariableNames', {'p', 'q'});
X{3, :} = [5 6];
X.p(1) = 9;
X
X(4, :) = {7, 8}
table2array(X), table2cell(X(1:2, :)), table2struct(X(1, :))
struct2table(struct('a', {1; 2}, 'b', {'u'; 'v'}))
varfun(@mean, X), varfun(@(x) sum(x), X, 'OutputFormat', 'uniform')
head(X, 2), tail(X, 1)
for v = X.Properties.VariableNames, fprintf('%s ', v{1}); end, fprintf('\n')
X.("p")'
isequal(X, X), isequal(X, T), istable(X)
renamevars(X, 'p', 'first'), removevars(X, 'q');
D = table(datetime(2024, 1, [1; 2]), hours([1; 2]), single([1; 2.5]), int8([1; 2]), [1 2; 3 4])
E = table()
name = [tempname '.csv'];
writetable(D(:, [1 3:4]), name), disp(fileread(name)), R = readtable(name), class(R.Var1), delete(name)
f = fopen(name, 'w'); fprintf(f, 'Name,The Age,Note\nAnn,38,\n"Bob, jr",,x\n'); fclose(f);
R = readtable(name), class(R.Note)
R = readtable(name, 'ReadVariableNames', false, 'NumHeaderLines', 1, 'TextType', 'string')
delete(name)
calls = {@() T.Nothing, @() T(:, 'Nothing'), @() T(9, :), @() T{1, 7}, @() T(1), @() T + 1, @() sum(T), ...
  @() table([1; 2], 3), @() table(1, 2, 'VariableNames', {'a', 'a'}), @() join(V, table(1)), ...
  @() [X; T], @() [X X], @() table2array(T), @() readtable('no_such_file'), @() sortrows(T, 'Nothing')};
for k = 1:numel(calls), try, calls{k}(); disp('no error'), catch err, fprintf('%s | %s\n', err.identifier, err.message), end, end
D{2, 1} = datetime(2025, 5, 6); disp(D.Var1(2)), D.Var2(1) = minutes(90); disp(D.Var2')
