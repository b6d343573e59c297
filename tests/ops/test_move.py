"""Rows that move elements. Oracle: views of real memory, made by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from runmat_jit.core.types import TensorType, c_strides
from runmat_jit.ops.table import ROWS
from tests.ops.operands import same_bits

INT64 = np.dtype("int64")


@st.composite
def views(draw):
    """An array, the order in which its axes lie, and a view of it by slices and a transposition."""
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    order = tuple(draw(st.permutations(range(len(shape)))))
    memory = np.arange(np.prod(shape)).reshape([shape[axis] for axis in order])
    base = memory.transpose(np.argsort(order))
    index = tuple(
        slice(draw(st.integers(0, n - 1)), None, draw(st.sampled_from([1, 2])))
        if draw(st.booleans())
        else slice(None, None, -1)
        for n in shape
    )
    view = base[index].transpose(draw(st.permutations(range(len(shape)))))
    return base, memory, order, view


def geometry(view, memory):
    distance = view.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    strides = tuple(stride // 8 for stride in view.strides)
    return {"offset": distance // 8, "shape": view.shape, "strides": strides}


def result_type(name, operands, params):
    kinds = tuple(TensorType(o.dtype, o.shape) for o in operands)
    return ROWS[name].result(kinds, params).type


@given(views())
def test_a_strided_node_reads_what_the_view_reads(case):
    base, memory, order, view = case
    params = geometry(view, memory) | {"order": order}
    copied = np.array(base, order="C")  # the node knows the order, whatever memory holds it now
    assert same_bits(ROWS["strided"].numpy(copied, **params), view)
    assert result_type("strided", (base,), params) == TensorType(INT64, view.shape)


@given(views())
def test_an_update_writes_what_a_write_through_the_view_writes(case):
    base = np.array(case[0], order="C")
    view = as_strided(base, case[3].shape, [0] * case[3].ndim)  # only the shape matters
    view = base.reshape(-1)[: view.size].reshape(view.shape)
    params = geometry(view, base)
    value = -np.arange(view.size).reshape(view.shape)
    updated = ROWS["update"].numpy(base, value, **params)
    assert result_type("update", (base, value), params) == TensorType(INT64, base.shape)
    before = base.copy()
    view[...] = value
    assert same_bits(updated, base)
    assert updated is not base
    assert before.shape == base.shape


def test_an_update_leaves_its_base_and_repeats_a_scalar():
    base = np.zeros((2, 3), np.int64)
    params = {"offset": 5, "shape": (2,), "strides": (-2,)}
    updated = ROWS["update"].numpy(base, np.int64(7), **params)
    assert updated.tolist() == [[0, 0, 0], [7, 0, 7]]
    assert not base.any()


def test_moves_mean_what_numpy_means():
    x = np.arange(24).reshape(2, 3, 4)
    cases = [
        ("transpose", {"axes": (2, 0, 1)}, x.transpose(2, 0, 1)),
        ("reshape", {"shape": (6, 4)}, x.reshape(6, 4)),
        ("broadcast_to", {"shape": (5, 2, 3, 4)}, np.broadcast_to(x, (5, 2, 3, 4))),
        (
            "slice",
            {"starts": (1, 2, 0), "steps": (1, -1, 3), "shape": (1, 3, 2)},
            x[1:, ::-1, ::3],
        ),
    ]
    for name, params, expected in cases:
        assert same_bits(ROWS[name].numpy(x, **params), expected)
        assert result_type(name, (x,), params) == TensorType(INT64, expected.shape)


def test_a_slice_of_a_number_is_the_number():
    params = {"starts": (), "steps": (), "shape": ()}
    assert ROWS["slice"].numpy(np.float64(2.5), **params) == 2.5


def test_strides_in_elements_follow_the_order_of_axes():
    x = np.zeros((2, 3, 4)).transpose(1, 2, 0)
    assert tuple(s // 8 for s in x.strides) == c_strides(x.shape, (2, 0, 1))
