"""Progressions of indices and boxes of them. Oracle: sets of indices, and NumPy's strides."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from runmat_jit.core.types import c_strides
from runmat_jit.ops.move import positions
from runmat_jit.passes.boxes import Progression, are_disjoint, box, box_of_strides, is_whole

PROGRESSIONS = st.builds(
    Progression, st.integers(0, 12), st.sampled_from((1, 2, 3, -1, -2)), st.integers(0, 5)
)


def indices(progression):
    return [progression.start + progression.step * k for k in range(progression.count)]


@st.composite
def progressions_in(draw, extent):
    """Progressions of at least one index of an axis."""
    first, last = draw(st.integers(0, extent - 1)), draw(st.integers(0, extent - 1))
    step = draw(st.sampled_from((1, 2, 3))) * (1 if first <= last else -1)
    return Progression(first, step, abs(last - first) // abs(step) + 1)


@given(one=PROGRESSIONS, other=PROGRESSIONS)
def test_disjoint_progressions_share_no_index(one, other):
    if one.is_disjoint(other):
        assert not set(indices(one)) & set(indices(other))


@given(one=PROGRESSIONS, other=PROGRESSIONS)
def test_progressions_that_a_range_or_a_step_separates_are_disjoint(one, other):
    a, b = indices(one), indices(other)
    ranges_meet = a and b and max(min(a), min(b)) <= min(max(a), max(b))
    residues_meet = a and b and (a[0] - b[0]) % np.gcd(one.step, other.step) == 0
    assert one.is_disjoint(other) == (not (ranges_meet and residues_meet))


@given(part=PROGRESSIONS, whole=PROGRESSIONS)
def test_what_is_within_can_be_counted_along_the_whole(part, whole):
    found = part.within(whole)
    if found is None:
        assert not set(indices(part)) <= set(indices(whole))
    else:
        assert [indices(whole)[k] for k in indices(found)] == indices(part)


@given(data=st.data())
def test_a_strided_view_along_the_arrays_axes_is_a_box(data):
    base = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    taken = [data.draw(progressions_in(extent)) for extent in base]
    steps = c_strides(base)
    offset = sum(p.start * step for p, step in zip(taken, steps, strict=True))
    shape = tuple(p.count for p in taken)
    strides = tuple(p.step * step for p, step in zip(taken, steps, strict=True))
    found = box_of_strides(base, offset, shape, strides)
    assert found is not None
    grid = np.arange(np.prod(base)).reshape(base)
    same = grid[np.ix_(*map(indices, found))]
    assert (same == positions(offset, shape, strides)).all()


@given(
    base=st.lists(st.integers(1, 4), min_size=1, max_size=3).map(tuple),
    offset=st.integers(0, 20),
    axes=st.lists(st.tuples(st.integers(1, 4), st.integers(-8, 8)), max_size=3),
)
def test_a_box_is_what_a_strided_view_touches(base, offset, axes):
    shape, strides = tuple(n for n, _ in axes), tuple(s for _, s in axes)
    where = positions(offset, shape, strides)
    assume(where.min() >= 0 and where.max() < np.prod(base))
    found = box_of_strides(base, offset, shape, strides)
    if found is not None:
        grid = np.arange(np.prod(base)).reshape(base)
        assert (grid[np.ix_(*map(indices, found))].reshape(-1) == where.reshape(-1)).all()


def test_boxes_are_disjoint_if_they_miss_each_other_on_one_axis():
    rows, other_rows = box((0, 0), (2, 1), (2, 5)), box((1, 0), (2, 1), (2, 5))
    column = box((0, 1), (1, 1), (4, 1))
    assert are_disjoint(rows, other_rows)
    assert not are_disjoint(rows, column)
    assert is_whole(box((0, 0), (1, 1), (4, 5)), (4, 5))
    assert not is_whole(rows, (4, 5))
