"""Random graphs through lowering and the LLVM backend. Oracles: the reference interpreter for rows
that NumPy defines to the bit, the unfused kernels for every other row, and NumPy's event reports
for the event word."""

from hypothesis import given, settings
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.text import to_text
from runmat_jit.passes.fusion.kinds import KINDS
from tests.graph.random_graphs import EXACT_ROWS, OURS, SUMS, arrays, bits_equal, graphs
from tests.lower.execute import execute, prepared

NAMES = [kind.name for kind in KINDS]
SOME = settings(max_examples=60, deadline=None)


@given(graphs(), st.integers(0, 2**20))
@SOME
def test_kernels_give_the_bits_of_numpy(graph, seed):
    graph = prepared(graph)
    expected = run(graph, arrays(graph, seed))
    found, _ = execute(graph, arrays(graph, seed))
    for want, have in zip(expected, found, strict=True):
        assert bits_equal(want, have), f"{to_text(graph)}\n{want}\n{have}"


@given(
    graphs((*EXACT_ROWS, *OURS, *SUMS)),
    st.sampled_from([k.name for k in KINDS]),
    st.integers(0, 99),
)
@SOME
def test_switching_a_kind_off_keeps_every_bit(graph, kind, seed):
    graph = prepared(graph)
    fused, _ = execute(graph, arrays(graph, seed))
    unfused, _ = execute(graph, arrays(graph, seed), {kind})
    for want, have in zip(unfused, fused, strict=True):
        assert bits_equal(want, have), f"{to_text(graph)}\n{want}\n{have}"
