"""Elements at positions of an index array, in captured functions. Oracle: undecorated Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


def elements(x, index):
    return x[index]


def fused(x, index):
    return x[index] * 2 + x[index]


def of_results(x, index):
    return (x * 2)[index % 3] + 1


def of_numbers(x, index):
    return np.arange(9.0)[index], np.zeros(9)[index] + 1, np.full((9, 2), 3.0)[index]


def columns(x, index):
    return x[:, index], x[:, index] * 2


def taken(x, index):
    return np.take(x, index), x.take(index)


def taken_along(x, index):
    return np.take(x, index, axis=0), x.take(index, 0), np.take(x, index, -1), x.take(index, axis=1)


def reduced(x, index):
    return x[index].max(), (x[index] > 0).sum()


def of_itself(x, index):
    x[:] = x[index]
    return x, index[index], index[index % 2] + 1


def kept(x, index):
    before = x[index]
    x[...] = 7
    return before, x[index], x


def beside_masks(x, index):
    x[x > 1] = 1
    y = x[index]
    x[x < 0] = 0
    return y + x[index]


def stored(x, index):
    x[index] = 3
    x[index] += 1
    return x


PROGRAMS = (
    elements,
    fused,
    of_results,
    of_numbers,
    columns,
    taken,
    taken_along,
    reduced,
    of_itself,
    kept,
    beside_masks,
    stored,
)


def operands(rng):
    return rng.normal(size=9), rng.integers(-9, 9, 9)


@pytest.mark.parametrize("fn", [p for p in PROGRAMS if p not in (columns, taken_along)])
def test_programs_on_vectors(fn):
    check(fn, operands)


@pytest.mark.parametrize("fn", [p for p in PROGRAMS if p not in (taken, of_numbers, of_itself)])
def test_programs_on_matrices(fn):
    check(fn, lambda rng: (rng.normal(size=(4, 5)), rng.integers(-4, 4, (6,))))


@given(st.sampled_from(PROGRAMS), st.data())
def test_all_dtypes_shapes_and_layouts(fn, data):
    dtype = data.draw(st.sampled_from(("f4", "f8", "i4", "i8", "?", "i2", "c8")))
    kind = data.draw(st.sampled_from(("i8", "i4", "i2", "u8", "?", "f8")))
    shape = data.draw(st.sampled_from(((9,), (4, 9), (3, 2, 9), (0,), (), (0, 3), (1,))))
    chosen = data.draw(st.sampled_from(((5,), (2, 3), (0,), (), (9,), (1,))))
    layouts = data.draw(st.tuples(*[st.sampled_from(("C", "F", "reversed", "gaps", "T"))] * 2))
    low, high = data.draw(st.sampled_from(((-1, 1), (-3, 3), (0, 9), (0, 30), (-9, 0))))

    def make(rng):
        x = np.asarray(rng.normal(size=shape) * 4).astype(dtype)
        index = np.asarray(rng.integers(low, high, chosen)).astype(kind)
        return laid_out(x, layouts[0]), laid_out(index, layouts[1])

    check(fn, make, seeds=(0, 0, 1))


def laid_out(x, layout):
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "reversed":
        return x[..., ::-1].copy()[..., ::-1] if x.ndim else x
    if layout == "gaps":
        memory = np.zeros((*x.shape, 2), x.dtype)
        memory[..., 0] = x
        return memory[..., 0]
    return x.T.copy().T if layout == "T" else x


@pytest.mark.parametrize("fn", [elements, fused, taken])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_they_are_nodes_of_the_graph(fn, dtype):
    def make(rng):
        return rng.normal(size=50).astype(dtype), rng.integers(-50, 50, 20)

    text = str(check(fn, make, replayed=True).explain(*make(np.random.default_rng(0))))
    assert "take" in text
    assert "NumPy computes" not in text


def test_an_index_and_arithmetic_are_one_kernel():
    @runmat.jit
    def f(x, index, y):
        return x[index] + y

    x, index = np.arange(9.0), np.array([3, -1, 0])
    text = str(f.explain(x, index, x[:3]))
    assert "take, add" in text


# -- positions out of range ------------------------------------------------------------------------
@pytest.mark.parametrize("fn", [elements, fused, taken, taken_along, columns])
@pytest.mark.parametrize("wrong", [9, -10, 2**31, -(2**63), 2**63 - 1])
def test_positions_out_of_range_raise_what_numpy_raises(fn, wrong):
    shape = (9, 9) if fn in (columns, taken_along) else (9,)
    decorated = runmat.jit(fn)
    for last in (8, 8, 8, wrong, 8, wrong):
        args = np.arange(np.prod(shape, dtype=int)).reshape(shape) * 1.0, np.array([1, last])
        compare(observe(fn, args, {}), observe(decorated, args, {}))


def test_arrays_without_axes_have_no_positions():
    for index in (np.array([0]), np.zeros((2, 3), int), np.zeros(0, int)):
        for fn in (elements, stored, of_itself):
            check(fn, lambda rng, index=index: (np.asarray(rng.normal()), index))


def test_what_was_written_before_stays_written():
    def f(x, index):
        x += 1
        y = x[index]
        x += 1
        return y

    check(
        f, lambda rng: (rng.normal(size=5), np.array([1, 7 * rng.integers(0, 2)])), seeds=range(9)
    )


def test_errors_may_be_caught():
    def f(x, index):
        try:
            return x[index] + 1
        except IndexError as error:
            return str(error)

    check(
        f, lambda rng: (rng.normal(size=5), np.array([1, 7 * rng.integers(0, 2)])), seeds=range(9)
    )


@pytest.mark.parametrize("state", ["raise", "ignore", "warn"])
def test_ranges_are_checked_in_every_state_of_errors(state):
    def f(x, index):
        with np.errstate(all=state):
            return x[index] / 0.0

    def g(x, index):
        return x[index] / 2.0

    with np.errstate(all=state):
        for fn in (f, g):
            decorated = runmat.jit(fn)
            for last in (0, 0, 0, 5, 0, 5):
                args = np.ones(5), np.array([1, last])
                compare(observe(fn, args, {}), observe(decorated, args, {}))


def test_results_that_were_kept_do_not_change():
    f = runmat.jit(fused)
    x, index = np.arange(6.0), np.array([5, 0, -1])
    kept_results = [f(x, index) for _ in range(5)]
    assert all((each == [15, 0, 15]).all() for each in kept_results)
    assert len({each.ctypes.data for each in kept_results}) == 5


def test_arrays_of_other_lengths():
    f = runmat.jit(fused)
    for size in (5, 9, 5, 14, 20, 3, 50):
        for count in (1, 4, 0, 7):
            args = np.arange(size) * 1.0, np.arange(count) % size - size
            compare(observe(fused, args, {}), observe(f, args, {}))


# -- other keys and modes --------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        lambda x, i: np.take(x, i, mode="clip"),
        lambda x, i: np.take(x, i, axis=0, mode="wrap"),
        lambda x, i: np.take(x, i, axis=0, out=np.zeros((3, 4))),
        lambda x, i: np.take(x, i, 5),
        lambda x, i: np.take(x, 2),
        lambda x, i: np.take(x, [1, 2]),
        lambda x, i: np.take(x, i, axis=1.0),
        lambda x, i: x.take(indices=i, axis=0),
        lambda x, i: x[i, i],
        lambda x, i: x[i, 1:],
        lambda x, i: x[..., i],
        lambda x, i: x[1:, i],
        lambda x, i: x[::-1][i] + x.T[i[:2]],
        lambda x, i: x[:, i, None],
        lambda x, i: x[None, i],
        lambda x, i: np.take_along_axis(x, i[None], 1),
        lambda x, i: x[i[0]],
        lambda x, i: x[i.reshape(3, 1)] * 2,
    ],
)
def test_other_forms(call):
    check(call, lambda rng: (rng.normal(size=(4, 4)), rng.integers(-2, 2, 3)))
