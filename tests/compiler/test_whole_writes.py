"""Oracle: the reference interpreter on the graph as it was, and the printed graph."""

import numpy as np
import pytest

from runmat_jit.backends.reference.interpret import run
from runmat_jit.compiler.whole_writes import with_whole_writes
from runmat_jit.graph.parse import parse
from runmat_jit.graph.text import to_text
from runmat_jit.graph.verify_graph import verify_graph

INPUTS = """$0 : float32[4, 5] strides (5, 1)
$1 : float32[2, 5] strides (5, 1)
$2 : float32[4, 5] strides (5, 1)
$3 : float32[5, 4] strides (4, 1)
%4 = negative($1)
%5 = negative($2)
"""


@pytest.mark.parametrize(
    "writes",
    [
        ["%4 -> into $0 offset 0 strides (5, 1)"],
        ["%4 -> into $0 offset 5 strides (10, 1)"],
        ["%4 -> into $0 offset 9 strides (10, -1)"],
        ["%5 -> into $0 offset 15 strides (-5, 1)"],
        ["%5 -> into $3 offset 0 strides (1, 4)"],
        ["%5 -> into $0 offset 0 strides (5, 1)", "%4 -> into $0 offset 5 strides (5, 1)"],
        ["%4 -> into $0 offset 5 strides (5, 1)", "%5 -> into $0 offset 0 strides (5, 1)"],
        ["$1 -> into $0 offset 0 strides (5, 1)", "%4 -> into $0 offset 5 strides (5, 1)"],
        ["%4 -> into $0 offset 5 strides (5, 1)", "%5 -> into $2 offset 0 strides (5, 1)"],
    ],
)
def test_parts_are_written_as_whole_values(writes):
    returns = ["%5 -> fresh (0, 1)", *writes]
    graph = parse(INPUTS + "".join(f"return {each}\n" for each in returns))
    made = with_whole_writes(graph)
    verify_graph(made)
    rng = np.random.default_rng(1)
    shapes = [(4, 5), (2, 5), (4, 5), (5, 4)]
    before = [rng.normal(size=shape).astype(np.float32) for shape in shapes]
    theirs, ours = [x.copy() for x in before], [x.copy() for x in before]
    np.testing.assert_array_equal(run(made, ours)[0], run(graph, theirs)[0])
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "strides (10," not in to_text(made).partition("return")[2]


@pytest.mark.parametrize(
    "text",
    [
        INPUTS + "return %5 -> into $0 offset 0 strides (5, 1)\n",
        INPUTS.replace("$0 : float32[4, 5] strides (5, 1)", "$0 : float32[4, 5] strides (1, 4)")
        + "return %4 -> into $0 offset 0 strides (1, 4)\n",
    ],
)
def test_whole_writes_and_inputs_in_another_order_stay_as_they_are(text):
    graph = parse(text)
    assert with_whole_writes(graph) is graph
