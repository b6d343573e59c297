"""Stores through masks as kernels. Oracle: the reference interpreter on equal arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.parse import parse
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.pipeline import optimize
from tests.graph.random_graphs import arrays, bits_equal
from tests.lower.execute import compiled, execute, launches

MASKS = ("$1", "%m")
BASES = ("$0", "%b")
USES = ("", "%u = maximum(%s, $0)\nreturn %u -> fresh {order}\n", "return %s -> fresh {order}\n")


@st.composite
def stores(draw):
    """A store into an input: base and mask given or computed, the value one number or many."""
    dtype = draw(st.sampled_from(("float32", "float64", "int32", "int64", "bool")))
    outer = draw(st.lists(st.integers(0, 5), max_size=2))
    shape = [*outer, draw(st.sampled_from((1, 7, 70)))]
    text = f"[{', '.join(map(str, shape))}]"
    steps = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    if draw(st.booleans()):
        steps = [2 * step for step in steps]
    strides = f"({', '.join(map(str, steps))},)".replace(",)", ")" if len(steps) > 1 else ",)")
    many = draw(st.booleans())
    store = f"putmask({draw(st.sampled_from(BASES))}, {draw(st.sampled_from(MASKS))}, $2)"
    lines = [
        f"$0 : {dtype}{text} strides {strides}",
        f"$1 : bool{text} strides {strides}",
        f"$2 : {dtype}{text} strides {strides}" if many else f"$2 : {dtype}[] by value",
        f"%m = less($0, $2) : bool{text}",
        f"%b = maximum($0, $2) : {dtype}{text}",
        f"%s = {store} : {dtype}{text}",
    ]
    order = str(tuple(range(len(shape))))
    uses = draw(st.sampled_from(USES)).format(order=order)
    return numbered(
        "\n".join(lines) + "\n" + uses + f"return %s -> into $0 offset 0 strides {strides}\n"
    )


def numbered(text):
    """The text with numbers for names."""
    for number, name in enumerate("mbsu"):
        text = text.replace(f"%{name}", f"%{number}")
    return parse(text)


@given(stores(), st.integers(0, 99), st.sampled_from((None, compiled)))
def test_kernels_write_what_the_mask_chooses(graph, seed, way):
    verify_graph(graph)
    for made in (graph, optimize(graph)):
        expected = run(made, arrays(made, seed))
        inputs = arrays(made, seed)
        found, _ = execute(made, inputs, run=way)
        assert all(map(bits_equal, found, expected))


@pytest.mark.parametrize("way", [None, compiled])
def test_what_the_mask_leaves_is_not_written(way):
    """NaNs that signal would be quiet if they passed through a conversion, others not kept."""
    text = "$0 : float32[99] strides (1,)\n$1 : bool[99] strides (1,)\n$2 : float32[] by value\n"
    text += "%0 = putmask($0, $1, $2) : float32[99]\nreturn %0 -> into $0 offset 0 strides (1,)\n"
    x = np.full(99, 0x7F800001, np.uint32).view(np.float32)
    mask = np.arange(99) % 7 == 3
    execute(parse(text), [x, mask, np.float32(2)], run=way)
    assert (x[mask] == 2).all()
    assert (x.view(np.uint32)[~mask] == 0x7F800001).all()


def test_the_array_is_not_read_where_a_number_is_stored():
    text = "$0 : float32[9] strides (1,)\n$1 : bool[9] strides (1,)\n$2 : float32[] by value\n"
    text += "%0 = putmask($0, $1, $2) : float32[9]\nreturn %0 -> into $0 offset 0 strides (1,)\n"
    (launch,) = launches(parse(text))
    assert [b.written for b in launch.kernel.parameters if hasattr(b, "written")] == [False, True]
