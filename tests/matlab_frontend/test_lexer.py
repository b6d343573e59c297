"""Tokens of a statement; oracle: what each text means by the language's rules, written by hand.

A token is shown by its kind where the text is the same, else by its text; a comma that stands for
a blank is shown as ``_``.
"""

import pytest

from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.lexer import statement_tokens
from matlab_frontend.source import Source


def shown(token):
    if token.kind in {"newline", "finish"}:
        return token.kind
    return "_" if (token.kind, token.text) == (",", " ") else token.text


def tokens(text, **options):
    return " ".join(shown(t) for t in statement_tokens(Source(text), 0, **options))


def kinds(text, **options):
    return [token.kind for token in statement_tokens(Source(text), 0, **options)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a'", "name ' finish"),
        ("a''", "name ' ' finish"),
        ("a.'", "name .' finish"),
        ("a.b'", "name . name ' finish"),
        ("x(1)'", "name ( number ) ' finish"),
        ("[1]'", "[ number ] ' finish"),
        ("{1}'", "{ number } ' finish"),
        ("1'", "number ' finish"),
        ("'a''b'", "char finish"),
        ("x = 'a'", "name = char finish"),
        ("(a')", "( name ' ) finish"),
        ("a '", "name ' finish"),
        ("[a']", "[ name ' ] finish"),
        ("[a 'b']", "[ name , char ] finish"),
        ("[a' 'b']", "[ name ' , char ] finish"),
        ("[a', 'b']", "[ name ' , char ] finish"),
        ("(a ')", "( name ' ) finish"),
        ("case 'a'", "case char finish"),
        ("x(end)'", "name ( index end ) ' finish"),
        ("x(end')", "name ( index end ' ) finish"),
        ('"it\'s"', "string finish"),
        ('"a""b"\'', "string ' finish"),
    ],
)
def test_a_quote_after_a_value_is_a_transpose(text, expected):
    assert " ".join(kinds(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[1 2]", "[ 1 _ 2 ] finish"),
        ("[1 , 2]", "[ 1 , 2 ] finish"),
        ("[ 1 2 ]", "[ 1 _ 2 ] finish"),
        ("[a b]", "[ a _ b ] finish"),
        ("[a -b]", "[ a _ - b ] finish"),
        ("[a - b]", "[ a - b ] finish"),
        ("[a-b]", "[ a - b ] finish"),
        ("[a- b]", "[ a - b ] finish"),
        ("[a +b]", "[ a _ + b ] finish"),
        ("[a * b]", "[ a * b ] finish"),
        ("[a *b]", "[ a * b ] finish"),
        ("[a (1)]", "[ a _ ( 1 ) ] finish"),
        ("[a(1) {2}]", "[ a ( 1 ) _ { 2 } ] finish"),
        ("[a [1]]", "[ a _ [ 1 ] ] finish"),
        ("[a ~b]", "[ a _ ~ b ] finish"),
        ("[a ~= b]", "[ a ~= b ] finish"),
        ("[a ~=b]", "[ a ~= b ] finish"),
        ("{@sin @cos}", "{ @ sin _ @ cos } finish"),
        ("{@(x) x 1}", "{ @ ( x ) x _ 1 } finish"),
        ("{@(x) -x}", "{ @ ( x ) - x } finish"),
        ("[f(a -1) 2]", "[ f ( a - 1 ) _ 2 ] finish"),
        ("([a -1])", "( [ a _ - 1 ] ) finish"),
        ("c{a -1}", "c { a - 1 } finish"),
        ("{c {a -1}}", "{ c _ { a _ - 1 } } finish"),
        ("[a ...\n -b]", "[ a _ - b ] finish"),
        ("[a -...\n b]", "[ a - b ] finish"),
        ("[1 -\n2]", "[ 1 - newline 2 ] finish"),
        ("[x.y .5]", "[ x . y _ .5 ] finish"),
        ("[x(end) end]", "[ x ( end ) _ end ] finish"),
        ("[1 \t 2]", "[ 1 _ 2 ] finish"),
        ("[a : b]", "[ a : b ] finish"),
        ("[a == -b]", "[ a == - b ] finish"),
    ],
)
def test_a_blank_in_brackets_is_a_comma_before_a_new_element(text, expected):
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.*2", "1 .* 2 finish"),
        ("1./2", "1 ./ 2 finish"),
        ("1.^2", "1 .^ 2 finish"),
        ("1.'", "1 .' finish"),
        ("1.\\2", "1 .\\ 2 finish"),
        ("1..^2", "1. .^ 2 finish"),
        ("1...\n+2", "1 + 2 finish"),
        ("3.e2+.5e-3", "3.e2 + .5e-3 finish"),
        ("1e3i", "1e3i finish"),
        ("1d3", "1d3 finish"),
        ("1:3.", "1 : 3. finish"),
        ("0x1Fu16", "0x1Fu16 finish"),
        ("0b101", "0b101 finish"),
        ("1e", "1 e finish"),
        ("1:end1", "1 : end1 finish"),
    ],
)
def test_a_number_ends_where_an_operator_begins(text, expected):
    assert tokens(text) == expected


def test_the_tokens_end_with_the_statement():
    assert tokens("x = f(1, 2); y = 3") == "x = f ( 1 , 2 ) ;"
    assert tokens("x, y") == "x ,"
    assert tokens("x % comment, ; here\ny") == "x newline"
    assert tokens("else x = 1;") == "else finish"
    assert tokens("if x break, end") == "if x break finish"


def test_a_line_end_is_a_row_break_in_brackets_and_nothing_in_parentheses():
    assert tokens("[1\n2]") == "[ 1 newline 2 ] finish"
    assert tokens("f(1,\n2)") == "f ( 1 , 2 ) finish"
    assert tokens("c{1,\n2}") == "c { 1 , 2 } finish"
    assert tokens("[f(1,\n2)]") == "[ f ( 1 , 2 ) ] finish"
    assert tokens("x + ... more\n 1") == "x + 1 finish"


def test_comments_in_brackets_end_with_their_line():
    assert tokens("[1 % one\n 2]") == "[ 1 newline 2 ] finish"
    assert tokens("[1\n%{\n2 ]\n%}\n3]") == "[ 1 newline newline 3 ] finish"


def test_keywords_are_names_after_a_dot_and_end_is_a_value_in_brackets():
    assert kinds("s.end.if") == ["name", ".", "name", ".", "name", "finish"]
    assert kinds("x(end)") == ["name", "(", "index end", ")", "finish"]
    assert kinds("end") == ["end", "finish"]


def test_octave_adds_operators_comments_and_closing_words():
    assert tokens("x != 1 # one\n", octave=True) == "x ~= 1 newline"
    assert tokens("x += 2 ** y", octave=True) == "x += 2 ^ y finish"
    assert tokens("x++;", octave=True) == "x ++ ;"
    assert tokens("x++y", octave=True) == "x + + y finish"
    assert kinds("endif", octave=True) == ["end", "finish"]
    assert kinds("endif") == ["name", "finish"]


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("x = (1, 2\ny = 3\n", 4, "'(' of line 1 is not closed: expected ')' before the text ends"),
        ("x = f((1, 2;", 6, "expected ')' before ';' is found"),
        ("x = [1, 2)", 4, "expected ']' before ')' is found"),
        ("x = {1, [2\nif x", 8, "expected ']' before 'if' begins"),
        ("x = 1)", 5, "')' closes no bracket"),
        ("x = 'abc\ny", 4, "' is not closed on its line"),
        ("x = 'a''", 4, "' is not closed on its line"),
        ('x = "abc', 4, '" is not closed on its line'),
        ("x = 1 # one", 6, "a comment begins with '%'"),
        ("x = \u2018a\u2019", 4, "straight quotes"),
        ("x = $", 4, "'$' has no meaning here"),
    ],
)
def test_an_error_stands_where_the_mistake_begins(text, offset, message):
    with pytest.raises(MatlabSyntaxError) as caught:
        tokens(text)
    assert message in str(caught.value)
    assert caught.value.span.start == offset
