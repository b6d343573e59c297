"""The order of reductions. Oracle: the table in the module's documentation, applied by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.passes.fusion.reduction_shape import next_step, steps

F4, F8 = np.dtype("float32"), np.dtype("float64")


@pytest.mark.parametrize(
    ("shape", "axes", "dtype", "expected"),
    [
        ((100,), (0,), F4, [("row", (0,), 16384)]),
        ((100,), (0,), F8, [("row", (0,), 8192)]),
        ((7,), (0,), F4, [("short", (0,), 8)]),
        ((300_000,), (0,), F4, [("row", (0,), 16384), ("row", (0,), 16384)]),
        ((300, 4), (1,), F4, [("short", (1,), 8)]),
        ((300, 4), (0,), F4, [("column", (0,), 256), ("column", (0,), 256)]),
        ((300, 4), (0, 1), F4, [("row", (0, 1), 16384)]),
        ((4, 90, 600), (1, 2), F4, [("row", (2,), 16384), ("row", (1,), 16384)]),
        ((4, 90, 600), (0, 1, 2), F4, [("row", (2,), 16384), ("row", (0, 1), 16384)]),
        ((5, 6, 70), (0, 2), F4, [("row", (2,), 16384), ("column", (0,), 256)]),
        ((5, 1, 6), (1,), F4, [("short", (), 1)]),
        ((), (), F4, [("short", (), 1)]),
    ],
)
def test_steps_follow_from_the_shape(shape, axes, dtype, expected):
    found = [(step.style, step.axes, step.cell) for _, step in steps(shape, axes, dtype)]
    assert found == expected


@given(st.lists(st.integers(0, 70_000), max_size=4), st.data())
def test_every_reduction_ends_with_one_result(shape, data):
    shape = tuple(shape)
    axes = tuple(a for a in range(len(shape)) if data.draw(st.booleans()))
    for read, step in steps(shape, axes, F4):
        left = step.result(read)
        assert math.prod(max(left[a], 1) for a in axes) <= math.prod(max(read[a], 1) for a in axes)
        kept = [a for a in range(len(shape)) if a not in axes]
        assert [left[a] for a in kept] == [read[a] for a in kept]
    assert all(left[a] == 1 for a in axes)


def test_a_unit_axis_has_no_part_in_the_order():
    with_unit = next_step((1, 500, 1, 30), (1, 3), F4)
    assert with_unit.axes == (1, 3)
