"""Geometry of views in formulas. Oracle: NumPy's views of an array of the shape."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runmat_jit.capture.shapes.symbolic_geometry import numbers_of, view_of
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.storage import Geometry, Storage
from runmat_jit.core.extent import Scope
from runmat_jit.core.types import c_strides


def parent_of(shape, scope=None):
    """The geometry of a new float64 array in C order; its extents are symbols of the scope."""
    storage = Storage.of(0, np.zeros(shape))
    extents = tuple(map(scope.symbol, shape)) if scope else shape
    strides = tuple(8 * stride for stride in c_strides(extents))
    storage.shape, storage.strides = extents, strides
    return Geometry(storage, 0, storage.dtype, extents, strides)


def by_numpy(shape, fn, rest):
    storage = Storage.of(0, np.zeros(shape))
    made = fn(storage.memory, *rest)
    return storage.locate(made) if made.size else None


numbers = st.integers(-9, 9)
slices = st.builds(slice, *(st.none() | numbers,) * 2, st.none() | numbers.filter(bool))
keys = st.lists(slices | st.just(None) | st.just(Ellipsis) | numbers, max_size=4).map(tuple)
shapes = st.lists(st.integers(2, 8), min_size=1, max_size=3).map(tuple)


@given(shapes, shapes, keys)
def test_a_basic_key_shows_what_numpy_shows(shape, other, key):
    check(shape, other, call_forms.GETITEM, (key,))


@pytest.mark.parametrize(
    ("fn", "rest"),
    [
        (np.transpose, ()),
        (np.transpose, ((1, 0, 2),)),
        (np.swapaxes, (0, -1)),
        (np.moveaxis, (0, 1)),
        (np.expand_dims, (1,)),
        (np.rollaxis, (2,)),
        (np.squeeze, ()),
        (np.atleast_3d, ()),
        (np.ravel, ()),
        (np.reshape, (-1,)),
        (np.reshape, ((-1, 1),)),
    ],
)
def test_calls_that_move_axes_show_what_numpy_shows(fn, rest):
    assert check((3, 4, 5), (6, 2, 7), fn, rest) is not None


@pytest.mark.parametrize("fn", [np.diagonal, np.flipud])
def test_what_is_not_understood_holds_for_this_shape_alone(fn):
    scope = Scope()
    made = by_numpy((3, 4), fn, ())
    found = view_of(parent_of((3, 4), scope), made, fn, (), {})
    assert found is made
    assert scope.function([])(3, 4) is not None
    assert scope.function([])(3, 5) is None
    assert scope.function([])(5, 4) is None


def check(shape, other, fn, rest):
    """Compare with NumPy for the shape, and for another shape whose formulas hold."""
    try:
        made = by_numpy(shape, fn, rest)
    except (IndexError, ValueError):
        return None
    if made is None:
        return None
    scope = Scope()
    found = view_of(parent_of(shape, scope), made, fn, rest, {})
    assert numbers_of(found) == numbers_of(made)
    if len(other) != len(shape):
        return None
    values = scope.function([found.offset, *found.shape, *found.strides])(*other)
    if values is None:
        return None
    expected = by_numpy(other, fn, rest)
    rank = len(found.shape)
    if expected is None:
        assert 0 in values[1 : 1 + rank]
        return values
    assert values[0] == expected.offset
    assert values[1 : 1 + rank] == expected.shape
    for extent, stride, wanted in zip(
        expected.shape, values[1 + rank :], expected.strides, strict=True
    ):
        assert extent == 1 or stride == wanted
    return values
