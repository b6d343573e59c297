"""From text to tree; oracle: the tree that the language's rules give, written by hand."""

import pytest

from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.nodes import Index, Name
from matlab_frontend.parser import parse
from matlab_frontend.source import Source, Span
from matlab_frontend.text import to_text


def tree(text, **options):
    return to_text(parse(Source(text), **options))


def lines(*texts):
    return "".join(f"{text}\n" for text in texts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2^-1", "(^ 2 (- 1))"),
        ("2^-1^2", "(^ (^ 2 (- 1)) 2)"),
        ("2^-~x'", "(' (^ 2 (- (~ x))))"),
        ("-2^2", "(- (^ 2 2))"),
        ("2^3^2", "(^ (^ 2 3) 2)"),
        ("2^3'", "(' (^ 2 3))"),
        ("~a==b", "(== (~ a) b)"),
        ("-a*b", "(* (- a) b)"),
        ("--a", "(- (- a))"),
        ("a:b+1", "(: a (+ b 1))"),
        ("a:b:c", "(: a b c)"),
        ("a:b:c:d", "(: (: a b c) d)"),
        ("1:n==3", "(== (: 1 n) 3)"),
        ("-x'", "(- (' x))"),
        ("a||b&&c|d&e<f", "(|| a (&& b (| c (& d (< e f)))))"),
        ("a&&b||c", "(|| (&& a b) c)"),
        ("a-b-c", "(- (- a b) c)"),
        ("a/b*c", "(* (/ a b) c)"),
        ("a\\b.\\c", "(.\\ (\\ a b) c)"),
        ("a+b.*c.^d", "(+ a (.* b (.^ c d)))"),
        ("a<b==c", "(== (< a b) c)"),
        ("(a+b)*c", "(* (group (+ a b)) c)"),
        ("a++b", "(+ a (+ b))"),
        ("@(x) x+1", "(@ (x) (+ x 1))"),
        ("@() @(y, ~) y", "(@ () (@ (y ~) y))"),
        ("@sin", "@sin"),
        ("@geometry.area", "@geometry.area"),
        ("f(@(x) x, 2)", "(index f (@ (x) x) 2)"),
    ],
)
def test_operators_bind_in_the_language_s_order(text, expected):
    assert tree(text) == expected + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f()", "(index f)"),
        ("x(:)", "(index x :)"),
        ("x(:, end)", "(index x : end)"),
        ("x(end-1:end)", "(index x (: (- end 1) end))"),
        ("x(2,:)'", "(' (index x 2 :))"),
        ("c{:}", "(cell c :)"),
        ("c{1}{2}(3)", "(index (cell (cell c 1) 2) 3)"),
        ("s.a.b(2).c", "(field (index (field (field s a) b) 2) c)"),
        ("s.(n)", "(dynamic s n)"),
        ("s.('a b').c", "(field (dynamic s 'a b') c)"),
        ("s.end", "(field s end)"),
        ("x([1 end])", "(index x [1 end])"),
        ("x(y(end))", "(index x (index y end))"),
        ("plot(x, LineWidth=2)", "(index plot x (named LineWidth 2))"),
        ("x(a==b)", "(index x (== a b))"),
        ("x(1, ...\n  2)", "(index x 1 2)"),
    ],
)
def test_what_follows_a_name_is_indexed_or_called(text, expected):
    assert tree(text) == expected + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", "1"),
        ("1.5e3", "1500"),
        ("1d2", "100"),
        (".1", "0.1"),
        ("2i", "2i"),
        ("0x1F", "31:uint8"),
        ("0x100", "256:uint16"),
        ("0xFFs8", "-1:int8"),
        ("0b101u32", "5:uint32"),
        ("'it''s'", "'it''s'"),
        ('"a""b"', '"a""b"'),
        ("[]", "[]"),
        ("[1 2; 3 4]", "[1 2; 3 4]"),
        ("[1, 2,\n 3, 4;\n\n]", "[1 2; 3 4]"),
        ("[1 -2]", "[1 (- 2)]"),
        ("[1 - 2]", "[(- 1 2)]"),
        ("[a' b']", "[(' a) (' b)]"),
        ("[x' ; y']", "[(' x); (' y)]"),
        ("['a' 'b'; c]", "['a' 'b'; c]"),
        ("{}", "{}"),
        ("{1, 'a'; @(x) x + 1, []}", "{1 'a'; (@ (x) (+ x 1)) []}"),
        ("{@(x) x +1}", "{(@ (x) x) (+ 1)}"),
    ],
)
def test_literals_are_read_as_they_are_written(text, expected):
    assert tree(text) == expected + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = 1", "(= x 1)"),
        ("x = 1;", "(= x 1);"),
        ("x(2).y{3} = 1;", "(= (cell (field (index x 2) y) 3) 1);"),
        ("s.(n)(end+1) = 1", "(= (index (dynamic s n) (+ end 1)) 1)"),
        ("[a, b] = f(x);", "(= [a b] (index f x));"),
        ("[a b] = f(x);", "(= [a b] (index f x));"),
        ("[~, b] = f(x);", "(= [~ b] (index f x));"),
        ("[~ ~ b] = f(x);", "(= [~ ~ b] (index f x));"),
        ("[a.b, c{1:2}] = f;", "(= [(field a b) (cell c (: 1 2))] f);"),
        ("[a] = f;", "(= [a] f);"),
        ("[a, b] == c", "(== [a b] c)"),
        ("x = a == b", "(= x (== a b))"),
        ("x(3) = [];", "(delete (index x 3));"),
        ("s.x(1, :) = [ ]", "(delete (index (field s x) 1 :))"),
        ("x(3) = ''", "(delete (index x 3))"),
        ("x(3) = ([])", "(= (index x 3) (group []))"),
        ('x(3) = ""', '(= (index x 3) "")'),
        ("c{3} = []", "(= (cell c 3) [])"),
        ("x = []", "(= x [])"),
        ("x.y = []", "(= (field x y) [])"),
        ("global a b;", "(global a b)"),
        ("persistent n", "(persistent n)"),
    ],
)
def test_assignments_and_deletions_differ_by_their_sides(text, expected):
    assert tree(text) == expected + "\n"


def test_statements_are_separated_by_commas_semicolons_and_lines():
    assert tree("a, b; c\n\nd;;, e % f\n% g\n") == lines("a", "b;", "c", "d;", "e")
    assert tree("") == ""
    assert tree("x = [1 2\n3 4]; y") == lines("(= x [1 2; 3 4]);", "y")


def test_block_comments_nest_and_are_alone_on_their_lines():
    text = "a\n %{\nx = (\n%{\n%}\n ' %}\n%}\nb %{\nc\n"
    assert tree(text) == lines("a", "b", "c")


def test_statements_may_follow_a_condition_on_its_line():
    expected = lines("if (group a)", "  (= x 1);", "elseif b", "  y", "else", "  z;")
    assert tree("if (a) x = 1; elseif b, y, else z; end") == expected
    assert tree("if (a)\n x = 1;\nelseif b\n y\nelse\n z;\nend") == expected


def test_else_if_in_two_words_is_a_new_block():
    text = "if a, x, else if b, y, end, end"
    assert tree(text) == lines("if a", "  x", "else", "  if b", "    y")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("for i = 1:3, x, end", lines("for i (: 1 3)", "  x")),
        ("for (i = 1:3) x; end", lines("for i (: 1 3)", "  x;")),
        ("for i = [1 2; 3 4]\nend", lines("for i [1 2; 3 4]")),
        ("for s.k = c\nbreak\nend", lines("for (field s k) c", "  break")),
        ("parfor (i = 1:3, 4)\nx\nend", lines("parfor i (: 1 3)", "  x")),
        ("while a < b, continue; end", lines("while (< a b)", "  continue")),
    ],
)
def test_loops_are_read_with_and_without_parentheses(text, expected):
    assert tree(text) == expected


def test_switch_has_cases_with_single_values_and_alternatives():
    text = "switch x % which\n\n case 1, a\n case {'b', 2}\n  b;\n otherwise\n  c\nend"
    expected = lines("switch x", "case 1", "  a", "case {'b' 2}", "  b;", "otherwise", "  c")
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("try, a, catch ME, b, end", lines("try", "  a", "catch ME", "  b")),
        ("try\n a\ncatch ME % why\n b\nend", lines("try", "  a", "catch ME", "  b")),
        ("try\n a\ncatch\n b\nend", lines("try", "  a", "catch", "  b")),
        ("try a; catch, b; end", lines("try", "  a;", "catch", "  b;")),
        ("try\n a\ncatch f(1)\nend", lines("try", "  a", "catch", "  (index f 1)")),
        ("try\n a\nend", lines("try", "  a", "catch")),
    ],
)
def test_a_name_alone_on_the_line_of_catch_is_the_error(text, expected):
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hold on", "(command hold 'on')"),
        ("clear all; close all", "(command clear 'all');\n(command close 'all')"),
        ("format long % digits", "(command format 'long')"),
        ("hold on, plot(x)", "(command hold 'on')\n(index plot x)"),
        ("disp 'it''s here' now", "(command disp 'it's here' 'now')"),
        ('print -dpng "a b.png";', "(command print '-dpng' 'a b.png');"),
        ("ls *.m", "(command ls '*.m')"),
        ("cd ..", "(command cd '..')"),
        ("disp -5", "(command disp '-5')"),
        ("x -1", "(command x '-1')"),
        ("x - 1", "(- x 1)"),
        ("x -1;", "(command x '-1');"),
        ("x ==1", "(== x 1)"),
        ("x  = 1", "(= x 1)"),
        ("x ...\n = 1", "(= x 1)"),
        ("x (1)", "(index x 1)"),
        ("x .* y", "(.* x y)"),
        ("x && y", "(&& x y)"),
        ("x = 2; x -1", "(= x 2);\n(- x 1)"),
        ("[x, y] = f; y -1", "(= [x y] f);\n(- y 1)"),
        ("for k = 1, k -1, end", "for k 1\n  (- k 1)"),
        ("global g\ng -1", "(global g)\n(- g 1)"),
        ("if a hold on, end", "if a\n  (command hold 'on')"),
        ("import pkg.*", "(command import 'pkg.*')"),
    ],
)
def test_a_name_and_a_word_are_a_command_unless_the_name_is_a_variable(text, expected):
    assert tree(text) == expected + "\n"


def test_variables_of_a_prompt_begin_no_command():
    assert tree("x -1", variables=["x"]) == "(- x 1)\n"


def test_variables_of_one_function_are_not_those_of_another():
    text = "function f(x)\nx -1\nfunction g\nx -1\n"
    assert tree(text) == lines(
        "function [] = f(x)", "  (- x 1)", "function [] = g()", "  (command x '-1')"
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("f", "[] = f()"),
        ("f()", "[] = f()"),
        ("f(a, ~, varargin)", "[] = f(a ~ varargin)"),
        ("y = f(x)", "[y] = f(x)"),
        ("[y, z] = f(x)", "[y z] = f(x)"),
        ("[y z] = f", "[y z] = f()"),
        ("[] = f", "[] = f()"),
        ("[y, ...\n z] = f(x, ...\n y2)", "[y z] = f(x y2)"),
    ],
)
def test_functions_have_inputs_and_outputs(head, expected):
    assert tree(f"function {head}\nend") == f"function {expected}\n"
    assert tree(f"function {head}\n") == f"function {expected}\n"


def test_functions_without_end_run_to_the_next_one():
    program = parse(Source("function f\nif a, b, end\n\nfunction g\nc;\n"))
    assert [function.name for function in program.functions] == ["f", "g"]
    assert [len(function.body) for function in program.functions] == [1, 1]
    assert program.functions[0].span.end == program.functions[1].span.start


def test_functions_with_end_stand_anywhere_in_a_script():
    text = "a\nfunction f\n b\nend\nc\nfunction g\nend\n"
    assert tree(text) == lines("a", "c", "function [] = f()", "  b", "function [] = g()")


def test_functions_inside_functions_that_are_closed_are_nested():
    text = "function f\na\nfunction g\nb\nend\nc\nend\nfunction h\nend"
    expected = ["function [] = f()", "  a", "  c", "  function [] = g()", "    b"]
    assert tree(text) == lines(*expected, "function [] = h()")


def test_arguments_blocks_declare_inputs():
    text = """function f(x, o)
        arguments (Repeating)
            x (1,:) double {mustBePositive, mustBeMember(x, [1 2])} = 5 % comment
            o.name string
        end
        y = x;
    end"""
    expected = [
        "function [] = f(x o)",
        "  arguments (Repeating)",
        "    x (1 :) double {mustBePositive (index mustBeMember x [1 2])} = 5",
        "    o.name () string {}",
        "  (= y x);",
    ]
    assert tree(text) == lines(*expected)
    assert tree("arguments = 1") == lines("(= arguments 1)")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x += 2 # sum", "(= x (+ x 2))"),
        ("x(i) *= y + 1;", "(= (index x i) (* (index x i) (+ y 1)));"),
        ("x++", "(= x (+ x 1))"),
        ("if !a, b, endif", "if (~ a)\n  b"),
        ("while a != b\n c\nendwhile", "while (~= a b)\n  c"),
        ("do, x, until x > 2", "do\n  x\nuntil (> x 2)"),
        ("(a)(2)", "(index (group a) 2)"),
        ("[1 2](1)", "(index [1 2] 1)"),
        ("# {\n#{\n x = (\n#}\ny", "y"),
    ],
)
def test_octave_s_additions_are_accepted_when_asked_for(text, expected):
    assert tree(text, octave=True) == expected + "\n"
    with pytest.raises(MatlabSyntaxError):
        tree(text)


def test_octave_s_comments_end_a_command():
    assert tree("hold on # comment", octave=True) == "(command hold 'on')\n"
    assert tree("hold on # comment") == "(command hold 'on' '#' 'comment')\n"


def test_octave_s_cleanup_is_a_block():
    text = "unwind_protect\n a\nunwind_protect_cleanup\n b\nend_unwind_protect"
    expected = lines("unwind_protect", "  a", "unwind_protect_cleanup", "  b")
    assert tree(text, octave=True) == expected


def test_nodes_know_the_text_they_were_read_from():
    source = Source("y = 1;\n z = f(x + 1)' % note\n")
    statement = parse(source).statements[1]
    assert source.excerpt(statement.span) == "z = f(x + 1)'"
    assert source.excerpt(statement.value.span) == "f(x + 1)'"
    assert source.excerpt(statement.value.operand.span) == "f(x + 1)"
    assert source.excerpt(statement.value.operand.arguments[0].span) == "x + 1"


def test_nodes_are_equal_when_they_say_the_same_elsewhere():
    def node(at):
        return Index(Span(at, at + 4), Name(Span(at, at + 1), "f"), ())

    assert node(0) == node(7)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("x = ", 1, 5, "expected a value, found the end of the text"),
        ("x = 1 +\ny", 1, 8, "expected a value, found the end of the line"),
        ("x = 1 2", 1, 7, "expected an operator or the end of the statement, found '2'"),
        ("if a\n x\n", 1, 1, "'if' is not closed: expected 'end' before the end of the text"),
        ("for i=1:3\n if a\n end\n", 1, 1, "'for' is not closed"),
        ("function f\nif a\nfunction g\n", 2, 1, "expected 'end' before 'function' of line 3"),
        ("while a\nelse\nend", 1, 1, "expected 'end' before 'else' of line 2"),
        ("x\nend", 2, 1, "'end' belongs to no block that is open here"),
        ("else", 1, 1, "'else' belongs to no block"),
        ("if a = 1, end", 1, 6, "to compare, write '=='"),
        ("x = y = 1", 1, 7, "an assignment has no value"),
        ("f = @() x = 1", 1, 11, "an assignment has no value"),
        ("x ' ", 1, 3, "' is not closed on its line"),
        ("a.b c", 1, 5, "expected an operator or the end of the statement, found 'c'"),
        ("1 = x", 1, 1, "cannot assign to this"),
        ("[a, 1] = x", 1, 5, "expected a variable or '~' as a target, found '1'"),
        ("[] = x", 1, 2, "expected a variable or '~' between"),
        ("x += 1", 1, 3, "'+=' is no operator: write 'x = x + ...'"),
        ("x != 1", 1, 3, "'!=' is no operator: write '~='"),
        ("y = !x", 1, 5, "'!' is no operator: write '~'"),
        ("!ls", 1, 1, "commands of the operating system"),
        ("(a)(1)", 1, 4, "only a name can be indexed"),
        ("x = end", 1, 5, "expected a value, found 'end'"),
        ("x = [1 end]", 1, 8, "'end' has a value only among the arguments"),
        ("break", 1, 1, "'break' stands in no loop"),
        ("f(1,)", 1, 5, "expected a value, found ')'"),
        ("f(1 2)", 1, 5, "expected ',' or ')' after an argument, found '2'"),
        ("[1 = 2]", 1, 4, "expected ',', ';' or ']' after an element, found '='"),
        ("[1,,2]", 1, 4, "expected a value, found ','"),
        ("s.1", 1, 2, "expected an operator"),
        ("s.+1", 1, 3, "expected the name of a field, found '+'"),
        ("@1", 1, 2, "expected the name of a function, or '(', after '@'"),
        ("for 1 = 2", 1, 5, "expected a variable after 'for'"),
        ("for i 1", 1, 7, "expected '=' after the variable of 'for'"),
        ("switch x\n y\ncase 1\nend", 2, 2, "expected 'case', 'otherwise' or 'end'"),
        ("function f(a, a)", 1, 15, "'a' is named twice"),
        ("function f(1)", 1, 12, "expected the name of a parameter"),
        ("function f\nend\nfunction g\n", 3, 1, "not closed by 'end', but other functions"),
        ("function f\narguments\n", 2, 1, "the 'arguments' block is not closed"),
        ("%{\nx\n", 1, 1, "the block comment is not closed"),
        ("global", 1, 7, "expected the name of a variable"),
        ("x = 1 end", 1, 7, "expected ',', ';' or a new line before 'end'"),
        ("0x1FFu8", 1, 1, "0x1FFu8 does not fit into 8 bits"),
        ("spmd\nend", 1, 1, "('spmd') are not supported yet"),
        ("disp don't", 1, 9, "' is not closed on its line"),
        ("x = ?A", 1, 5, "metaclasses ('?name') are not supported yet"),
    ],
)
def test_an_error_says_where_and_what_was_expected(text, line, column, message):
    with pytest.raises(MatlabSyntaxError) as caught:
        tree(text)
    error = caught.value
    assert message in error.message
    assert (error.lineno, error.offset) == (line, column)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "[" * 5000 + "1" + "]" * 5000,
        "{" * 5000 + "}" * 5000,
        "-" * 5000 + "1",
        "2^" + "-" * 5000 + "1",
        "x(" * 5000 + "1" + ")" * 5000,
        "x{" * 5000 + "1" + "}" * 5000,
        "x.(" * 5000 + "'a'" + ")" * 5000,
        "@()" * 5000 + "1",
        "if a\n" * 5000 + "end\n" * 5000,
        "switch a\ncase 1\n" * 5000 + "end\n" * 5000,
        "try\n" * 5000 + "end\n" * 5000,
    ],
)
def test_nesting_beyond_the_limit_is_an_error_of_the_text(text):
    with pytest.raises(MatlabSyntaxError, match="nested more than 80 levels"):
        parse(Source(text))


def test_long_chains_are_no_nesting():
    text = "x = " + "+".join(["1"] * 5000)
    assert tree(text).startswith("(= x " + "(+ " * 4999 + "1 1)")


def test_many_cases_on_a_line_are_no_nesting():
    text = "switch x " + "case 1 " * 5000 + "end"
    assert len(parse(Source(text)).statements[0].cases) == 5000


def test_many_statements_are_no_nesting():
    assert len(parse(Source("if a\nelse\nend\n" * 5000)).statements) == 5000
