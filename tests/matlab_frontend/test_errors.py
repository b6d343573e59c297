"""Errors of programs; oracles: messages written by hand, and Python's own SyntaxError."""

import pickle
import traceback

from matlab_frontend.errors import MatlabError, MatlabSyntaxError, underlined
from matlab_frontend.source import Source, Span
from runmat_jit.core.errors import RunMatError

SOURCE = Source("a = 1;\nx = (1, 2\ny", "f.m")


def test_an_error_has_an_identifier_and_reads_as_its_message():
    error = MatlabError("MATLAB:UndefinedFunction", "Undefined function 'f'.")
    assert isinstance(error, RunMatError)
    assert (error.identifier, str(error)) == ("MATLAB:UndefinedFunction", error.message)


def test_a_syntax_error_shows_its_line_with_a_caret():
    error = MatlabSyntaxError("'(' is not closed", SOURCE, Span(11, 12))
    assert str(error) == "f.m:2:5: '(' is not closed\n  x = (1, 2\n      ^"


def test_several_characters_are_underlined_on_their_first_line():
    assert underlined(SOURCE, Span(12, 16)) == "  x = (1, 2\n       ^^^^"
    assert underlined(SOURCE, Span(15, 18)) == "  x = (1, 2\n          ^"


def test_characters_that_a_terminal_would_obey_are_not_shown():
    shown = underlined(Source("x = \x1b[2J\0;"), Span(4, 5))
    assert shown == "  x = \N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER};\n      ^"


def test_the_end_of_the_text_can_be_underlined():
    assert underlined(Source("x ="), Span(3, 3)) == "  x =\n     ^"


def test_a_tab_before_the_caret_stays_a_tab():
    assert underlined(Source("\tx = )"), Span(5, 6)) == "  \tx = )\n  \t    ^"


def test_of_a_long_line_the_part_at_fault_is_shown():
    text = "a" * 500 + "?" + "b" * 500
    expected = f"  {'a' * 50}?{'b' * 49}\n  {' ' * 50}^"
    assert underlined(Source(text), Span(500, 501)) == expected


def test_python_shows_a_syntax_error_as_its_own():
    error = MatlabSyntaxError("'(' is not closed", SOURCE, Span(11, 12))
    assert isinstance(error, SyntaxError)
    shown = traceback.format_exception_only(error)
    assert shown[0] == '  File "f.m", line 2\n'
    assert shown[1:3] == ["    x = (1, 2\n", "        ^\n"]


def test_errors_can_be_sent_to_another_process():
    for error in (
        MatlabError("a:b", "message"),
        MatlabSyntaxError("'(' is not closed", SOURCE, Span(11, 12)),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is type(error)
        assert (str(copy), copy.identifier) == (str(error), error.identifier)
