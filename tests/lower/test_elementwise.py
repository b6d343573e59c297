"""Elementwise kernels over arrays that lie in any way. Oracle: NumPy, bit for bit; kernel text
where structure is the point."""

import numpy as np
import pytest

from runmat_jit.core.hardware import TILE
from runmat_jit.core.types import TensorType
from runmat_jit.graph.apply import make_node
from runmat_jit.graph.node import Fresh, GraphBuilder, Output
from runmat_jit.kernel.text import to_text
from runmat_jit.lower import elementwise
from runmat_jit.lower.nest import Period, make_nest
from runmat_jit.lower.problem import Read, Store
from runmat_jit.ops.table import ROWS
from runmat_jit.plan.argument import Scratch
from tests.graph.written import written
from tests.lower.execute import compiled, execute, launches

AXPY = "add(multiply($0, 2.0), $1)"


def values(shape, seed=0, dtype="float32"):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def typed(x):
    return f"{x.dtype}{list(x.shape)} strides {tuple(s // x.itemsize for s in x.strides)}"


def run(expression, *inputs, **how):
    graph = written([typed(x) for x in inputs], expression)
    (found,), _ = execute(graph, list(inputs), run=compiled, **how)
    return found


def texts(expression, *inputs):
    graph = written([typed(x) for x in inputs], expression)
    return "".join(to_text(launch.kernel) for launch in launches(graph))


@pytest.mark.parametrize("n", [*range(1, 70), 127, 128, 129, 199, 200, 1000, 1003])
def test_every_length_gives_the_bits_of_numpy(n):
    x, y = values(n), values(n, 1)
    np.testing.assert_array_equal(run(AXPY, x, y), x * np.float32(2) + y)


def test_one_kernel_serves_all_lengths_and_scalars():
    one = texts(AXPY, values(()), values(()))
    assert one == texts(AXPY, values(7), values(7)) == texts(AXPY, values((30, 4)), values((30, 4)))


def test_the_flat_kernel_reads_and_writes_once():
    assert texts(AXPY, values(9), values(9)) == (
        "kernel(b0: f32[], b1: f32[], b2: f32[] written, s3: index)\n"
        "lanes %0 in [0, s3)\n"
        "  %1: <f32> = load b0[%0] stride 1\n"
        "  %2: <f32> = load b1[%0] stride 1\n"
        "  %3: <f32> = mul %1, 0x1.0000000000000p+1:f32\n"
        "  %4: <f32> = add %3, %2\n"
        "  note %4\n"
        "  store b2[%0] stride 1 = %4\n"
    )


def operands():
    x = values((6, 40))
    yield "contiguous", x, values((6, 40), 1)
    yield "transposed", x, values((40, 6), 1).T
    yield "reversed", x[:, ::-1], values((6, 40), 1)[::-1]
    yield "strided", values((12, 120))[::2, ::3], values((6, 40), 1)
    yield "a row", x, values((40,), 1)
    yield "a column", x, values((6, 1), 1)
    yield "a scalar", x, values((), 1)
    yield "a repeated column", x, np.broadcast_to(values((6, 1), 1), (6, 40))
    yield "all Fortran", np.asfortranarray(x), np.asfortranarray(values((6, 40), 1))
    yield "few lanes", values((40, 3)), values((3,), 1)
    yield "three axes", values((4, 5, 12)), values((4, 1, 12), 1)
    yield "four axes", values((3, 4, 5, 7)), values((3, 1, 5, 1), 1)
    yield "unit axes", values((1, 5, 1, 3)), values((4, 1, 1, 3), 1)
    yield "nothing", values((0, 3)), values((3,), 1)
    yield "channels", values((3, 5, 11, 3)), values((3, 1, 1, 3), 1)
    yield "channels with steps", values((5, 22, 3))[:, ::2], values((5, 1, 6), 1)[..., ::-2]
    yield "channels of a row", values((5, 11, 7)), values((11, 7), 1)
    yield "a row of odd rows", values((6, 41)), values((41,), 1)
    yield "a column of odd rows", values((6, 41)), values((6, 1), 1)
    yield "a strided column", values((3, 6, 41)), values((3, 12, 1), 1)[:, ::2]
    yield "channels in turn", values((11, 5, 3)).transpose(1, 0, 2), values((3,), 1)


@pytest.mark.parametrize(("x", "y"), [o[1:] for o in operands()], ids=[o[0] for o in operands()])
def test_any_layout_gives_the_bits_of_numpy(x, y):
    np.testing.assert_array_equal(run(AXPY, x, y), x * np.float32(2) + y)


@pytest.mark.parametrize(("x", "y"), [o[1:] for o in operands()], ids=[o[0] for o in operands()])
def test_lanes_over_channels_give_the_same_bits(x, y, monkeypatch):
    """As for devices: what has channels alone is read again and again."""
    monkeypatch.setattr(elementwise, "make_nest", lambda *args, **_: make_nest(*args, cyclic=True))
    np.testing.assert_array_equal(run(AXPY, x, y), x * np.float32(2) + y)


def test_channels_are_merged_with_the_axis_before_them():
    image, gain = values((4, 50, 60, 3)), values((4, 1, 1, 3), 1)
    reads = [
        Read(Scratch(n, x.dtype, x.size), x.dtype, strides)
        for n, (x, strides) in enumerate([(image, (9000, 180, 3, 1)), (gain, (3, 0, 0, 1))])
    ]
    store = Store(reads[0], Scratch(2, image.dtype, image.size), image.dtype, (9000, 180, 3, 1))
    nest = make_nest(image.shape, (*reads, store), cyclic=True)
    assert nest.extents == (4, 9000)
    assert nest.periods == {reads[1]: Period(3, of_rows=False)}
    assert make_nest(image.shape, (*reads, store)).extents == (4, 3, 3000)


def test_arrays_of_different_fast_axes_are_walked_in_tiles():
    x, y = values((200, 150)), values((150, 200), 1).T
    (launch,) = launches(written([typed(x), typed(y)], AXPY))
    assert launch.total == -(-200 // TILE) * -(-150 // TILE)
    np.testing.assert_array_equal(run(AXPY, x, y), x * np.float32(2) + y)


@pytest.mark.parametrize("shape", [(100_000,), (3, 50_000), (50_000, 3), (700, 300)])
def test_any_chunks_give_the_same_bits(shape):
    x = values(shape)
    y = values(shape[-1:], 1)
    graph = written([typed(x), typed(y)], AXPY)

    def chunked(launch, bound):
        return compiled(launch, bound, chunks=7)

    (found,), _ = execute(graph, [x, y], run=chunked)
    np.testing.assert_array_equal(found, x * np.float32(2) + y)


def test_bools_are_stored_as_bytes():
    x = values((5, 33))
    np.testing.assert_array_equal(run("greater($0, 0.0)", x), x > 0)


@pytest.mark.parametrize(("start", "step"), [(0, 1), (3, -2), (0.5, 0.25)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_counting_needs_no_memory(dtype, start, step):
    kind = np.dtype(dtype)
    if kind.kind == "i" and start != int(start):
        start, step = 7, 5
    counter = GraphBuilder().make(
        ROWS["iota"], (), {"start": start, "step": step}, TensorType(kind, (50,))
    )
    backwards = make_node(
        "slice",
        (counter,),
        {"starts": (49,), "steps": (-3,), "shape": (17,)},
        TensorType(kind, (17,)),
    )
    doubled = make_node("add", (backwards, backwards), {}, backwards.type)
    graph = GraphBuilder().finish([Output(doubled, Fresh((0,))), Output(counter, Fresh((0,)))])
    (twice, plain), _ = execute(graph, [], run=compiled)
    expected = kind.type(start) + kind.type(step) * np.arange(50).astype(kind)
    np.testing.assert_array_equal(plain, expected)
    np.testing.assert_array_equal(twice, 2 * expected[::-3])


def test_a_shifted_difference_is_one_pass():
    x = values(1000)
    ahead = "slice($0, starts=(1,), steps=(1,), shape=(999,))"
    behind = "slice($0, starts=(0,), steps=(1,), shape=(999,))"
    graph = written([typed(x)], f"subtract({ahead}, {behind})")
    (launch,) = launches(graph)
    assert launch.nbytes == 3 * 999 * 4
    (found,), _ = execute(graph, [x], run=compiled)
    np.testing.assert_array_equal(found, x[1:] - x[:-1])


def test_a_flattened_transpose_is_copied_first():
    x = values((30, 20))
    flat = "reshape(transpose($0, axes=(1, 0)), shape=(600,))"
    np.testing.assert_array_equal(run(f"add({flat}, 1.0)", x), x.T.reshape(600) + np.float32(1))


def test_arrays_are_joined_along_any_axis():
    x, y = values((4, 5)), values((4, 3), 1)
    joined = run("concatenate($0, $1, axis=1)", x, y)
    np.testing.assert_array_equal(joined, np.concatenate([x, y], axis=1))


def test_an_update_leaves_its_operand_as_it_was():
    x, y = values((4, 5)), values((2, 5), 1)
    before = x.copy()
    found = run("update($0, $1, offset=5, shape=(2, 5), strides=(10, 1))", x, y)
    expected = before.copy()
    expected[1::2] = y
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(x, before)


def test_nothing_to_compute_has_no_kernel():
    assert launches(written(["float32[0, 3]"], "add($0, 1.0)")) == []
