"""Reductions. Oracles: their order written out with NumPy from its definition; exact sums; NumPy's
error on the same arrays."""

import math

import numpy as np
import pytest

from runmat_jit.kernel.text import to_text
from runmat_jit.passes.fusion.reduction_shape import COLUMN_BLOCK, steps
from tests.graph.written import written
from tests.lower.execute import compiled, execute, interpreted, launches

NUMPY = {"sum": np.add, "max": np.maximum, "min": np.minimum}
IDENTITY = {"sum": -0.0, "max": -np.inf, "min": np.inf}
CASES = [
    ((1,), (0,)),
    ((7,), (0,)),
    ((130,), (0,)),
    ((20_000,), (0,)),
    ((3, 5), (1,)),
    ((40, 5), (1,)),
    ((100, 20), (1,)),
    ((70, 90), (0,)),
    ((70, 90), (1,)),
    ((70, 90), (0, 1)),
    ((600, 3), (0,)),
    ((5, 9, 11), (0, 2)),
    ((5, 9, 11), (1,)),
    ((3, 4, 600), (1, 2)),
    ((2, 17_000), (1,)),
    ((6, 1, 8), (1,)),
]


def by_definition(x, axes, name):
    """The reduction, element by element in its order."""
    combine, start = NUMPY[name], x.dtype.type(IDENTITY[name])
    for shape, step in steps(x.shape, axes, x.dtype):
        others = [a for a in range(x.ndim) if a not in step.axes]
        flat = x.transpose((*others, *step.axes)).reshape(*(shape[a] for a in others), -1)
        cells = [
            _cell(flat[..., lo : lo + step.cell], step.style, combine, start)
            for lo in range(0, max(1, flat.shape[-1]), step.cell)
        ]
        result = np.stack(cells, axis=-1)
        left = step.result(shape)
        order = [*others, *step.axes]
        x = result.reshape([left[a] for a in order]).transpose(np.argsort(order))
    return x + x.dtype.type(0) if name == "sum" and x.dtype.kind == "f" else x


def _cell(x, style, combine, start):
    if style == "short":
        return _in_order(x, combine, start)
    if style == "column":
        pieces = range(0, max(1, x.shape[-1]), COLUMN_BLOCK)
        blocks = [_in_order(x[..., at : at + COLUMN_BLOCK], combine, start) for at in pieces]
        return _in_order(np.stack(blocks, axis=-1), combine, start)
    lanes = 32 if x.dtype.itemsize == 8 else 64
    sums = []
    for lane in range(lanes):
        mine = x[..., lane::lanes]
        blocks = [
            _in_order(mine[..., at : at + 16], combine, start)
            for at in range(0, max(1, mine.shape[-1]), 16)
        ]
        sums.append(_in_order(np.stack(blocks, axis=-1), combine, start))
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [combine(a, b) for a, b in zip(sums[:half], sums[half:], strict=True)]
    return sums[0]


def _in_order(x, combine, start):
    result = np.full(x.shape[:-1], start)
    for position in range(x.shape[-1]):
        result = combine(result, x[..., position])
    return result


def reduction(name, kind, axes, operand="$0"):
    dtype = f", dtype='{kind.partition('[')[0]}'" if name in ("sum", "prod") else ""
    return f"{name}({operand}, axis={axes}, keepdims=True{dtype})"


def laid_out(x, order, reversed_axis=None):
    """The same values with axes in another order of memory; the type as the graph writes it."""
    memory = np.ascontiguousarray(x.transpose(order)).transpose(np.argsort(order))
    if reversed_axis is not None:
        memory = np.flip(np.flip(memory, reversed_axis).copy(), reversed_axis)
    strides = tuple(s // x.itemsize for s in memory.strides)
    return memory, f"{x.dtype}{list(x.shape)} strides {strides}"


def layouts(x):
    axes = tuple(range(x.ndim))
    yield laid_out(x, axes)
    yield laid_out(x, axes[::-1])
    yield laid_out(x, axes, x.ndim - 1)


@pytest.mark.parametrize(("shape", "axes"), CASES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_memory_has_no_part_in_the_order(shape, axes, dtype):
    x = np.random.default_rng(5).normal(size=shape).astype(dtype)
    expected = by_definition(x, axes, "sum")
    for values, kind in layouts(x):
        graph = written([kind], reduction("sum", kind, axes))
        for run in (interpreted, compiled):
            (found,), _ = execute(graph, [values], run=run)
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize(("shape", "axes"), [((40, 5), (1,)), ((70, 90), (0,)), ((3, 130), (1,))])
def test_other_reductions_have_the_same_order(name, shape, axes):
    x = (1 + np.random.default_rng(5).normal(size=shape) / 9).astype(np.float32)
    kind = f"float32{list(shape)}"
    (found,), _ = execute(written([kind], reduction(name, kind, axes)), [x], run=compiled)
    np.testing.assert_array_equal(found, by_definition(x, axes, name))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("shape", [(5, 4), (5, 30), (300, 9)])
@pytest.mark.parametrize("axis", [0, 1])
def test_extremes_pass_nan_on(name, shape, axis):
    x = np.random.default_rng(1).normal(size=shape)
    x[1, 2] = np.nan
    kind = f"float64{list(shape)}"
    (found,), _ = execute(written([kind], reduction(name, kind, (axis,))), [x])
    np.testing.assert_array_equal(found, getattr(x, name)(axis=axis, keepdims=True))


@pytest.mark.parametrize("name", ["any", "all", "max", "min"])
@pytest.mark.parametrize(("shape", "axes"), [((9, 70), (1,)), ((70, 9), (0,)), ((9, 3), (1,))])
def test_bools_reduce_as_in_numpy(name, shape, axes):
    x = np.random.default_rng(2).random(shape) < (0.02 if name in ("any", "max") else 0.98)
    kind = f"bool{list(shape)}"
    (found,), _ = execute(written([kind], reduction(name, kind, axes)), [x], run=compiled)
    np.testing.assert_array_equal(found, getattr(x, name)(axis=axes, keepdims=True))


@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_sums_and_products_wrap(name, dtype):
    x = np.full((3, 100), np.iinfo(dtype).max // 3, dtype)
    kind = f"{dtype}[3, 100]"
    (found,), _ = execute(written([kind], reduction(name, kind, (1,))), [x], run=compiled)
    np.testing.assert_array_equal(found, getattr(x, name)(axis=1, dtype=dtype, keepdims=True))


@pytest.mark.parametrize(("shape", "axes"), [((0,), (0,)), ((4, 0), (1,)), ((0, 4), (0,))])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_an_empty_reduction_gives_the_identity(name, shape, axes):
    dtype = "float32" if name == "sum" else "int32"
    kind, x = f"{dtype}{list(shape)}", np.zeros(shape, dtype)
    (found,), _ = execute(written([kind], reduction(name, kind, axes)), [x])
    expected = getattr(np, name)(x, axis=axes, keepdims=True)
    np.testing.assert_array_equal(found, expected)
    assert not np.signbit(found).any()


def test_a_result_without_elements_has_no_kernels():
    kind = "float32[0, 4]"
    assert launches(written([kind], reduction("sum", kind, (1,)))) == []


@pytest.mark.parametrize("shape", [(5,), (100,), (100, 9)])
def test_a_sum_of_negative_zeros_is_positive(shape):
    kind = f"float32{list(shape)}"
    graph = written([kind], reduction("sum", kind, (0,)))
    (found,), _ = execute(graph, [np.full(shape, -0.0, "f4")])
    assert not np.signbit(found).any()


@pytest.mark.parametrize("shape", [(3, 700), (700, 3), (3, 40_000)])
@pytest.mark.parametrize("axis", [0, 1])
def test_cancelling_sums_keep_the_bound(shape, axis):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape)).astype(np.float32)
    kind = f"float32{list(shape)}"
    (found,), _ = execute(written([kind], reduction("sum", kind, (axis,))), [x], run=compiled)
    levels = len(list(steps(shape, (axis,), x.dtype)))
    lines = x if axis == 1 else x.T
    exact = np.array([math.fsum(line.astype(float)) for line in lines])
    room = 36 * levels * 2.0**-24 * np.abs(lines.astype(float)).sum(axis=1)
    assert (np.abs(found.ravel() - exact) <= room).all()


@pytest.mark.parametrize("length", [100, 1000, 20_000])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("draw", ["random", "standard_normal", "standard_exponential"])
def test_sums_are_as_accurate_as_those_of_numpy(length, axis, draw):
    """In the mean over 300 arrays: 1.5 times NumPy's error along memory, its error across."""
    shape = (300, length) if axis == 1 else (length, 300)
    x = getattr(np.random.default_rng(7), draw)(shape).astype(np.float32)
    kind = f"float32{list(shape)}"
    (found,), _ = execute(written([kind], reduction("sum", kind, (axis,))), [x], run=compiled)
    exact = x.astype(float).sum(axis=axis)
    scale = np.abs(x.astype(float)).sum(axis=axis)

    def rms(result):
        return float(np.sqrt(np.mean(((result.astype(float) - exact) / scale) ** 2)))

    assert rms(found.ravel()) <= (1.5 if axis == 1 else 1.0) * rms(x.sum(axis=axis))


def test_new_extents_need_no_new_kernel():
    def texts(*shape):
        kind = f"float32{list(shape)}"
        expression = f"divide($0, sqrt({reduction('sum', kind, (1,), 'square($0)')}))"
        return [to_text(launch.kernel) for launch in launches(written([kind], expression))]

    assert texts(50, 700) == texts(33, 999)
