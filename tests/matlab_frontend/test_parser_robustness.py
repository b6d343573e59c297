"""Whatever the text, it is parsed or refused; oracle: no other exception, and spans that fit.

Texts are random bytes, sequences of the language's words, and programs with a part removed,
doubled or replaced.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.errors import MatlabSyntaxError
from matlab_frontend.parser import parse
from matlab_frontend.source import Source
from matlab_frontend.text import to_text

PROGRAM = """% a program with most constructs
function [y, n] = newton(f, x, varargin)
    arguments
        f
        x (1,1) double {mustBeFinite} = 1
    end
    persistent calls
    n = 0; y = x';
    while abs(f(y)) > 1e-8 && n < 10
        step = f(y) ./ (f(y + 1i*eps) - f(y)); % comment
        y(end+1, :) = y(end, :) - step;
        n = n + 1;
        if n == 5, break; elseif ~isempty(step), continue, else disp hello, end
    end
    switch class(y)
        case {'double', "single"}
            s.(class(y)).value{2} = [1 -2, y.' ; 3 4 ...
                5];
        otherwise
            error('newton:class', 'it''s %s', class(y));
    end
    %{
    block comment
    %}
    try
        g = @(a, ~) a.^2 + y(1);
        x(2) = [];
    catch problem
        rethrow(problem);
    end
    for k = [1:3; 4:6], hold on; end
end
"""
PIECES = [
    *("(", "[", "{", "'", '"', "x(", "x.", "@", "@(", "-", "~", "2^", "1:", "...\n", "%{\n"),
    *("end ", "if ", "for i=", "try\n", "function f\n", "x = ", "[x,", "a&&", "\n", ";", "%\n"),
    *("x ", "1.", ")", "]", "}", ",", " ", ":", "==", "%}\n", "else", "catch", "1", "!", "?"),
    *("spmd", "do", "until", "+=", "++", "#", "\t", "arguments\n", "global", "\x00", "\xe9", "0x"),
]
WORDS = [*PROGRAM.split(), *PIECES]


def check(text):
    """Read a text in both dialects; print what is read, look at the error of what is not."""
    for octave in (False, True):
        source = Source(text)
        try:
            program = parse(source, octave=octave)
        except MatlabSyntaxError as error:
            refused = error
        else:
            to_text(program)
            continue
        assert 0 <= refused.span.start <= refused.span.end <= len(source.text)
        assert source.position(refused.span.start).line == refused.lineno
        assert "^" in str(refused)


@given(st.binary(max_size=200))
def test_random_bytes_are_read_or_refused(data):
    check(Source.from_bytes(data).text)


@given(st.lists(st.sampled_from(WORDS), max_size=40), st.sampled_from(["", " "]))
def test_random_words_are_read_or_refused(words, between):
    check(between.join(words))


@given(st.integers(0, len(PROGRAM)), st.integers(0, 30), st.sampled_from(["", "double", *WORDS]))
def test_programs_with_a_part_replaced_are_read_or_refused(start, length, replacement):
    removed = PROGRAM[start : start + length]
    written = removed * 2 if replacement == "double" else replacement
    check(PROGRAM[:start] + written + PROGRAM[start + length :])


def test_every_beginning_of_a_program_is_read_or_refused():
    for end in range(0, len(PROGRAM), 3):
        check(PROGRAM[:end])


def test_the_program_itself_is_read():
    assert len(parse(Source(PROGRAM)).functions) == 1


@pytest.mark.parametrize("piece", PIECES)
def test_a_piece_repeated_without_end_is_read_or_refused(piece):
    check(piece * 3000)
