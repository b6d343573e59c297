"""Source texts; oracles: Python's codecs, and positions counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matlab_frontend.source import Position, Source, Span


def test_every_line_end_becomes_a_newline():
    assert Source("a\r\nb\rc\n").text == "a\nb\nc\n"


def test_a_byte_order_mark_is_no_text():
    assert Source.from_bytes(b"\xef\xbb\xbfx = 1").text == "x = 1"


def test_text_that_is_no_utf8_is_read_in_the_code_page_of_windows():
    assert Source.from_bytes(b"% \xb0C \x80 \x81").text == "% °C € \x81"


@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\ufeff")))
def test_utf8_is_read_as_it_was_written(text):
    assert Source.from_bytes(text.encode()).text == text


@given(st.binary())
def test_every_file_has_a_text(data):
    Source.from_bytes(data)


def test_a_file_is_read_with_its_path_as_name(tmp_path):
    path = tmp_path / "script.m"
    path.write_bytes(b"x = 1\r\n")
    assert Source.from_file(path) == Source("x = 1\n", str(path))


@pytest.mark.parametrize(
    ("offset", "line", "column"), [(0, 1, 1), (2, 1, 3), (3, 2, 1), (4, 3, 1), (6, 3, 3)]
)
def test_lines_and_columns_are_counted_from_one(offset, line, column):
    assert Source("ab\n\ncd").position(offset) == Position(line, column)


def test_a_line_and_an_excerpt_are_parts_of_the_text():
    source = Source("first\nsecond")
    assert source.line(2) == "second"
    assert source.excerpt(Span(6, 9)) == "sec"


@given(st.text("ab\n"), st.data())
def test_a_position_leads_back_to_its_offset(text, data):
    source = Source(text)
    offset = data.draw(st.integers(0, len(text)))
    position = source.position(offset)
    before = sum(len(source.line(n)) + 1 for n in range(1, position.line))
    assert before + position.column - 1 == offset
