"""What a prompt takes for a beginning; oracle: where MATLAB's own prompt goes on to a next line."""

import pytest

from matlab_frontend.parser import is_unfinished, parse
from matlab_frontend.source import Source

BEGINNINGS = [
    *("for k=1:3", "if x", "while true, x", "try", "switch x", "switch x\ncase 1"),
    *("a = [1 2", "c = {1,", "f(1,", "f(1, ... more", "x = [1 ... \n", "x = {'a', [1 2"),
    *("%{", "x = 1;\n%{\nwords"),
    *("x = 3 ...", "x = 3 ... note", "x = ...", "if x ...", "hold on ...", "x = 1; ...", "..."),
    *("x = 3 ...\n+ 4 ...", "x = 1 + ...", "disp ...x y"),
    *("function f", "function y = f(x)\ny = 1;", "function f\nfor k=1:3\nx\nend"),
    *("function f\narguments\nx", "function f\nfunction g\nend"),
]
WHOLE = [
    *("", "x", "% a", "%{\na\n%}", "for k=1:3, end", "hold on", "x = 3 % ...", "x=1 % ..."),
    *("x = 'a...'", 'x = "..."', "x = 3 %{"),
    *("x = 3 ...\n", "function f\nx\nend", "function f\nx\n"),
]
WRONG = [
    *("x = 'abc", "y = )", "x = 1 +", "end", "for", "if )", "for k=1:3\n y = )", "[1 2)"),
    *("a = [1 'abc", "x = 3 = 4 "),
]


@pytest.mark.parametrize("text", BEGINNINGS)
def test_lines_that_open_something_are_unfinished(text):
    assert is_unfinished(Source(text))


@pytest.mark.parametrize("text", [*WHOLE, *WRONG])
def test_a_program_and_what_no_line_can_mend_are_not(text):
    assert not is_unfinished(Source(text))


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_whole_is_a_program(text):
    parse(Source(text))


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_an_error_at_once(text):
    with pytest.raises(SyntaxError) as raised:
        parse(Source(text))
    assert not raised.value.unfinished
