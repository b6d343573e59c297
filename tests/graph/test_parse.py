"""Reading graphs from text. Oracle: the printer, for random graphs; messages written by hand."""

import pytest
from hypothesis import given, note

from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.graph.tokens import GraphSyntaxError
from runmat_jit.graph.verify_graph import verify_graph
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, graphs

X = "$0 : float32[4] strides (1,)\n"


@given(graph=graphs(rows=(*EXACT_ROWS, *OURS, *SUMS)))
def test_a_printed_graph_is_read_back(graph):
    text = to_text(graph)
    note(text)
    again = parse(text)
    assert to_text(again) == text
    verify_graph(again)
    for old, new in zip(graph.nodes, again.nodes, strict=True):
        assert (old.op, old.params, old.type) == (new.op, dict(new.params), new.type)
        assert [graph.nodes.index(a) for a in old.args] == [again.nodes.index(a) for a in new.args]


def test_types_may_be_left_to_the_rows():
    graph = parse(X + "%0 = less($0, 0.5)\nreturn %0 -> fresh (0,)\n")
    assert "%0 = less($0, 0.5) : bool[4]\n" in to_text(graph)


def test_blank_lines_and_comments_are_skipped():
    graph = parse("\n# doubles\n" + X + "\n%0 = add($0, $0)  # twice\nreturn %0 -> fresh (0,)\n")
    assert len(graph.nodes) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = add($0, $1)", "line 2, column 14: the value is not defined, found '$1'"),
        ("%0 = ad($0, $0)", "line 2, column 6: there is no such row, found 'ad'"),
        ("%0 = add($0 $0)", "line 2, column 13: expected ',', found '$0'"),
        ("%0 = add($0, 0.5", "line 2, column 17: expected ',', found the end of the line"),
        ("%0 = add($0, ?)", "line 2, column 14: '?' begins no token"),
        ("%0 = add($0, True)", "line 2, column 14: this is no float32, found 'True'"),
        ("%0 = add(1.0, 2.0)", "line 2, column 10: a call of constants only needs their dtypes"),
        ("%0 = sin($0) : float33[4]", "line 2, column 16: there is no such dtype"),
        ("%0 = sin($0) : float32[4.5]", "line 2, column 24: expected an integer, found '4.5'"),
        ("%0 = sin($0) extra", "line 2, column 14: expected the end of the line, found 'extra'"),
        ("%0 = update($0)", "line 2, column 16: update has 2 operands"),
        ("%0 = invert($0)", "line 2, column 16: invert has no rule for these operands"),
        ("%0 = transpose($0)", "line 2, column 19: transpose needs the parameter 'axes'"),
        ("$0 : float32[4] strides (1,)", "line 2, column 1: the value is defined twice"),
        ("$2 : float32[4] strides (1,)", "line 2, column 1: inputs are numbered in order"),
        ("return $0 -> fresh 3", "line 2, column 20: expected a tuple of integers"),
        ("%0 = sum($0, axis=<f>)", "line 2, column 19: '<' begins no token"),
    ],
)
def test_an_error_says_line_and_column(line, message):
    with pytest.raises(GraphSyntaxError) as error:
        parse(X + line + "\n")
    assert str(error.value).startswith(message)


def test_a_parameter_may_be_called_like_a_number():
    graph = parse(
        f"{X}%0 = nan_to_num($0, nan=nan, neginf=-inf, posinf=inf)\nreturn %0 -> fresh (0,)\n"
    )
    assert set(graph.nodes[-1].params) == {"nan", "neginf", "posinf"}
