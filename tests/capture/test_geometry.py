"""Oracle: NumPy's own views of the same base."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.capture.tape.geometry import in_elements, overlaps_itself, result_strides, window

KEYS = [slice(None), slice(1, None), slice(None, None, -1), slice(None, None, 2), 0, None]


@st.composite
def bases_and_views(draw):
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    base = np.arange(np.prod(shape)).reshape(shape)
    if draw(st.booleans()):
        base = base[tuple(slice(None, None, draw(st.sampled_from([1, -1]))) for _ in shape)]
    base = base.transpose(draw(st.permutations(range(base.ndim))))
    view = base
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()):
            view = view.T
        elif view.size:
            view = view[tuple(draw(st.sampled_from(KEYS)) for _ in view.shape)]
    return base, view


def apply(base, found):
    """What a window says, by index arrays."""
    walks = [s + np.arange(e) * p for s, p, e in zip(found.starts, found.steps, found.extents)]
    walked = [axis for axis in found.axes if axis >= 0]
    rest = [axis for axis in range(base.ndim) if axis not in walked]
    picked = base[np.ix_(*walks)].transpose(rest + walked)
    kept = [e if axis >= 0 else 1 for e, axis in zip(found.shape, found.axes)]
    return np.broadcast_to(picked.reshape(kept), found.shape)


@given(bases_and_views())
def test_a_window_shows_the_elements_of_the_view(pair):
    base, view = pair
    if view.size == 0 or not isinstance(view, np.ndarray):
        return
    offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 8
    found = window(
        base.shape, in_elements(base.strides, 8), offset, view.shape, in_elements(view.strides, 8)
    )
    assert found is not None
    np.testing.assert_array_equal(apply(base, found), view)


def test_diagonals_and_reshapes_are_no_windows():
    assert window((4, 4), (4, 1), 0, (4,), (5,)) is None
    assert window((4, 4), (4, 1), 0, (16,), (1,)) is None


def test_overlapping_strides_are_seen():
    assert overlaps_itself((3,), (0,))
    assert overlaps_itself((3, 3), (1, 1))
    assert not overlaps_itself((3, 4), (4, 1))
    assert not overlaps_itself((1, 4), (0, 1))


@given(st.permutations(range(3)), st.permutations(range(3)))
def test_result_strides_are_numpys(first, second):
    a = np.zeros((2, 3, 4)).transpose(first)
    b = np.zeros(np.array((2, 3, 4))[first][np.argsort(second)]).transpose(second)
    assert result_strides([a, b], a.shape, 8) == (a + b).strides
