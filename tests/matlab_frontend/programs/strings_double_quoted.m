s = "abc";
disp(s + "def");
disp(strlength(s));
disp(class(s));
t = s + 5;
disp(t);
disp(s == "abc");
u = ["x" "y" "z"];
disp(numel(u));
disp(u(2));
disp(upper(s));
disp(strrep(s, "b", "X"));
disp(contains("hello world", "wor"));
disp(startsWith("hello", "he"));
disp(isstring(s));
disp(ischar(s));
c = char(s);
disp(class(c));
disp(string(5));
disp(join(["a" "b"], "-"));
fprintf("%s\n", s);
switch s
  case "abc"
    disp("matched");
end
