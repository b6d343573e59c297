"""Elements at positions of an index array, as kernels. Oracle: the reference interpreter, which
asks NumPy; the interpreter of kernels, which checks all bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.backends.reference.interpret import run
from runmat_jit.graph.parse import parse
from runmat_jit.graph.verify_graph import verify_graph
from runmat_jit.passes.pipeline import optimize
from tests.graph.random_graphs import arrays, bits_equal
from tests.lower.execute import compiled, execute, regions

INPUTS = ("$0 : float64[5] strides (1,)", "$1 : int64[5] strides (1,)")


@st.composite
def gathers(draw):
    """A graph that takes elements along an axis, and the extent of that axis."""
    dtype = draw(st.sampled_from(("float32", "float64", "int32", "int64", "bool")))
    before, behind = (draw(st.lists(st.integers(1, 4), max_size=2)) for _ in range(2))
    chosen = [*draw(st.lists(st.integers(0, 4), max_size=1)), draw(st.sampled_from((1, 9, 70)))]
    extent, axis = draw(st.integers(1, 6)), len(before)
    shape, index = [*before, extent, *behind], [*chosen, *(1 for _ in behind)]
    order = draw(st.permutations(range(len(shape))))
    sign, spread = draw(st.sampled_from((1, -1))), draw(st.sampled_from((1, 2)))
    strides, step = [0] * len(shape), sign * spread
    for place in order:
        strides[place], step = step, step * shape[place]
    width = draw(st.sampled_from(("int32", "int64")))
    plain = [int(np.prod(index[place + 1 :])) for place in range(len(index))]
    result = [*before, *chosen, *behind]
    text = (
        f"$0 : {dtype}{shape} strides {tuple(strides)}\n"
        f"$1 : {width}{index} strides {tuple(plain)}\n"
        f"%0 = maximum($0, $0) : {dtype}{shape}\n"
        f"%1 = maximum($1, $1) : {width}{index}\n"
    )
    base, at = draw(st.sampled_from(("$0", "%0"))), draw(st.sampled_from(("$1", "%1")))
    text += f"%2 = take({base}, {at}, axis={axis}) : {dtype}{result}\n"
    text += f"%3 = maximum(%2, %2) : {dtype}{result}\n"
    outer = tuple(range(len(result)))
    last = draw(st.sampled_from(("%2", "%3")))
    return parse(f"{text}return {last} -> fresh {outer}\n"), extent


def operands(graph, extent, seed, *, beyond=0):
    x, index = arrays(graph, seed)
    rng = np.random.default_rng(seed)
    index[...] = rng.integers(-extent - beyond, extent + beyond, index.shape)
    return [x, index]


@given(gathers(), st.integers(0, 99), st.sampled_from((None, compiled)))
def test_kernels_take_what_numpy_takes(made, seed, way):
    graph, extent = made
    verify_graph(graph)
    for each in (graph, optimize(graph)):
        expected = run(each, operands(graph, extent, seed))
        found, _ = execute(each, operands(graph, extent, seed), run=way)
        assert all(map(bits_equal, found, expected))


@given(gathers(), st.integers(0, 99))
def test_no_position_makes_a_kernel_read_outside(made, seed):
    graph, extent = made
    execute(graph, operands(graph, extent, seed, beyond=2**30))


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        # what surrounds it is one kernel with it: the index, and what is made of the elements
        (
            ("%0 = negative($1)", "%1 = take($0, %0, axis=0) : float64[5]", "%2 = add(%1, %1)"),
            [["negative", "take", "add"]],
        ),
        # what it takes elements of is stored
        (
            ("%0 = negative($0)", "%1 = take(%0, $1, axis=0) : float64[5]"),
            [["negative"], ["take"]],
        ),
        # also where one value is both, and where the shapes are equal
        (
            ("%0 = negative($1)", "%1 = take(%0, %0, axis=0) : int64[5]"),
            [["negative"], ["take"]],
        ),
        # a reduction reads what has been taken from memory
        (
            (
                "%0 = take($0, $1, axis=0) : float64[5]",
                "%1 = max(%0, axis=(0,), keepdims=True) : float64[1]",
            ),
            [["take"], ["max"]],
        ),
        # numbers that nobody stores are stored for it
        (
            (
                "%0 = broadcast_to(float64(2.0), shape=(5,)) : float64[5]",
                "%1 = take(%0, $1, axis=0) : float64[5]",
            ),
            [["broadcast_to"], ["take"]],
        ),
    ],
)
def test_what_becomes_one_kernel(lines, names):
    last = f"return %{len(lines) - 1} -> fresh (0,)"
    graph = parse("\n".join((*INPUTS, *lines, last, "")))
    assert [[node.op.name for node in region.nodes] for region in regions(graph)] == names
    index = np.array([0, -1, -2, 0, -4])
    x = np.arange(5.0)
    expected = run(graph, [x.copy(), index.copy()])
    found, _ = execute(graph, [x, index])
    assert all(map(bits_equal, found, expected))


def test_an_array_that_is_written_is_read_before():
    """A store through a mask is not made at once where its array is read at any place."""
    text = "$0 : float64[5] strides (1,)\n$1 : int64[5] strides (1,)\n$2 : bool[5] strides (1,)\n"
    text += "%0 = putmask($0, $2, float64(9.0)) : float64[5]\n%1 = take($0, $1, axis=0)"
    text += " : float64[5]\n%2 = maximum(%0, %1)\nreturn %2 -> fresh (0,)\n"
    graph = parse(text + "return %0 -> into $0 offset 0 strides (1,)\n")

    def inputs():
        return [np.arange(5.0), np.array([4, 3, 2, 1, 0]), np.array([1, 1, 0, 0, 1], bool)]

    found, _ = execute(graph, inputs())
    assert all(map(bits_equal, found, run(graph, inputs())))
