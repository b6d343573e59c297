"""``y.resize(shape)`` of arrays in decorated functions; oracle: plain Python."""

import sys

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check


def vector(rng):
    return (rng.normal(size=8),)


def grown_by_doubling(x):
    kept, count = np.empty(1), 0
    for value in x:
        if count == kept.size:
            kept.resize(2 * count)
        kept[count] = value
        count += 1
    kept.resize(count)
    return kept


def a_result_of_a_kernel(x):
    y = x * 2
    y.resize(12)
    y[8:] = x[:4]
    return y


def a_copy_that_becomes_a_matrix(x):
    y = x.copy()
    y.resize((4, 4), refcheck=False)
    return y + 1


def to_equal_size(x):
    y = np.arange(8.0) * x
    y.resize((2, 4))
    return y


def in_the_other_order(x):
    y = np.asfortranarray(np.outer(x, x))
    y.resize((3, 5))
    return y


def after_a_view_is_gone(x):
    y = x * 2
    first = y[1:]
    total = first.sum()
    del first
    y.resize(4)
    return y, total


def of_an_attribute_and_an_item(x):
    class Holder:
        pass

    holder, kept = Holder(), [x * 2, x * 3]
    holder.array = x + 1
    holder.array.resize(5)
    kept[0].resize(2, 5)
    return holder.array, kept


def of_a_result_of_the_host(x):
    y = np.sort(x)
    y.resize(4)
    y += 1
    return y


def of_truth_values(x):
    y = x > 0
    y.resize(12)
    return y, y.sum()


def a_shape_that_is_none(x):
    y = x * 2
    try:
        y.resize(-3)
    except ValueError as error:
        return str(error), y
    return None


def nothing(x):
    y = x * 2
    y.resize()
    return y


def a_new_array_of_another_length(x):
    return np.resize(x, 20) + np.resize(x, (2, 3)).sum()


def with_two_names(x):
    y = x * 2
    other = y
    y.resize(3)
    return other


def with_a_view(x):
    y = x * 2
    view = y[1:][1:]
    y.resize(3)
    return view


def of_a_view(x):
    y = (x * 2)[1:]
    y.resize(3)
    return y


def with_a_helper(x):
    def grow(array):
        array.resize(20)

    y = x * 2
    grow(y)
    return y


def of_an_argument(x):
    x.resize(3)
    return x


def of_an_argument_without_its_name(x):
    getattr(x, "res" + "ize")((2, 4), refcheck=False)
    return x + 1, x.shape


@pytest.mark.parametrize(
    "program",
    [
        grown_by_doubling,
        a_result_of_a_kernel,
        a_copy_that_becomes_a_matrix,
        to_equal_size,
        in_the_other_order,
        after_a_view_is_gone,
        of_an_attribute_and_an_item,
        of_a_result_of_the_host,
        of_truth_values,
        a_shape_that_is_none,
        nothing,
        with_two_names,
        with_a_view,
        of_a_view,
        with_a_helper,
        pytest.param(
            of_an_argument,
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 14),
                reason="NumPy has two messages there, by how many references it counts",
            ),
        ),
        of_an_argument_without_its_name,
    ],
)
def test_arrays_change_their_length_in_place(program):
    check(program, vector)


class Buffer:
    def __init__(self):
        self.values, self.size = np.zeros(2), 0

    def add(self, value):
        if self.size == len(self.values):
            self.values.resize(2 * self.size, refcheck=False)
        self.values[self.size] = value
        self.size += 1
        return self.values[: self.size].sum()


def test_an_array_of_an_object_grows():
    add, plain, ours = runmat.jit(Buffer.add), Buffer(), Buffer()
    for number in range(20):
        assert add(ours, float(number)) == plain.add(float(number))
    assert [reason.id for reason in add.explain(ours, 1.0).reasons] == ["resizes-array"]


def test_the_function_of_numpy_is_followed():
    check(a_new_array_of_another_length, vector, replayed=True)
