"""Expressions without blanks; oracles: texts as MATLAB displays them, and the parser's tree."""

import pytest

from matlab_frontend.compact import compact
from matlab_frontend.parser import parse
from matlab_frontend.source import Source


def expression(text):
    source = Source(text)
    return source, parse(source).statements[0].value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@(x, y) x.^2 + y(1, :)", "@(x,y)x.^2+y(1,:)"),
        ("@(x) [x -1; 2 'a b']", "@(x)[x,-1;2,'a b']"),
        ("@(x) [1 2\n 3 4]", "@(x)[1,2;3,4]"),
        ("@(x) [\n1, 2, % row\n\n 3 4;\n]", "@(x)[1,2;3,4]"),
        ("@() f(x, ... why\n  1e-3)", "@()f(x,1e-3)"),
        ("f(@(x) x +\n 1)", "f(@(x)x+1)"),
        ("@(x) a' * {b' c'}", "@(x)a'*{b',c'}"),
        ("@(x) x(end - 1) && ~ y", "@(x)x(end-1)&&~y"),
        ("1. / x", "1/x"),
        ("@sin", "@sin"),
    ],
)
def test_blanks_are_dropped_and_the_meaning_is_kept(text, expected):
    source, value = expression(f"f = {text};")
    assert compact(source, value.span) == expected
    assert expression(f"f = {expected};")[1] == value
