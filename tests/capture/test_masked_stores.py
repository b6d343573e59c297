"""Stores of numbers through masks. Oracle: the undecorated function."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


# -- stores that are nodes of the graph ------------------------------------------------------------
def a_number(x, mask, value):
    x[mask] = value


def a_comparison(x, mask, value):
    x[x < value] = value
    return x


def an_update(x, mask, value):
    x[mask] += value
    x[mask] *= 2
    x[mask] -= 1.5
    x[mask] /= value
    return x * 2


def functions_of_numpy(x, mask, value):
    first = np.putmask(x, mask, value)
    second = np.copyto(x, 3.0, where=x > 5)
    return first, second


def results_before_and_after(x, mask, value):
    before, total = x + 1, x.sum()
    x[mask] = value
    return before, total, x + 1, x[::-1]


def new_arrays(x, mask, value):
    y = np.zeros_like(x)
    y[x > 0] = 1
    y[mask] = value
    return y


def views(x, mask, value):
    part = x[1:]
    part[mask[1:]] = value
    x[::-1][mask] *= 2
    return part, np.shares_memory(part, x)


def a_number_of_the_array(x, mask, value):
    first = x[0]
    x[mask] = x[2]
    x[mask] -= first
    return x


STORES = (
    a_number,
    a_comparison,
    an_update,
    functions_of_numpy,
    results_before_and_after,
    new_arrays,
    views,
    a_number_of_the_array,
)


def operands(dtype, value=0.5, size=40):
    def make(rng):
        return (rng.normal(size=size) * 4).astype(dtype), rng.random(size) < 0.4, value

    return make


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fn", STORES)
def test_stores_are_replayed_without_the_host(fn, dtype):
    decorated = check(fn, operands(dtype), replayed=True)
    text = str(decorated.explain(*operands(dtype)(np.random.default_rng(0))))
    assert "setitem" not in text
    assert "getitem" not in text
    assert "putmask" in text


@given(
    st.sampled_from(STORES[:3]),
    st.sampled_from(("?", "i1", "i4", "i8", "u2", "f2", "f4", "f8", "c16")),
    st.sampled_from(
        (
            2,
            -1,
            True,
            0.0,
            -0.0,
            2.5,
            np.nan,
            np.inf,
            1e300,
            10**30,
            np.float32(3),
            np.float64(1e300),
            np.int64(7),
            np.bool_(1),
            np.array(2.5),
            np.array([1.0]),
            "text",
            None,
        )
    ),
    st.data(),
)
def test_all_dtypes_values_and_layouts(fn, dtype, value, data):
    shape = data.draw(st.sampled_from(((7,), (2, 3), (0,), (0, 3), ())))
    layout = data.draw(st.sampled_from(("C", "F", "reversed", "gaps", "read-only", "offset")))
    errors = data.draw(st.sampled_from(("warn", "raise", "ignore")))

    def make(rng):
        x = np.asarray(rng.normal(size=shape) * 3).astype(dtype)
        if x.dtype.kind == "f" and x.size:
            x.flat[0], x.flat[-1] = np.inf, np.nan
        return laid_out(x, layout), np.asarray(rng.random(shape) < 0.5), value

    with np.errstate(all=errors):
        check(fn, make, exact=True, seeds=(0, 0, 1))


def laid_out(x, layout):
    if layout == "F":
        return np.asfortranarray(x)
    if layout == "reversed":
        return x[..., ::-1].copy()[..., ::-1] if x.ndim else x
    if layout == "gaps":
        memory = np.zeros((*x.shape, 2), x.dtype)
        memory[..., 0] = x
        return memory[..., 0]
    if layout == "offset":
        memory = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
        memory[...] = x
        return memory
    x.setflags(write=layout != "read-only")
    return x


@given(st.data())
def test_masks_of_leading_axes_and_of_wrong_shapes(data):
    shape = (3, 4)
    chosen = data.draw(st.sampled_from(((3, 4), (3,), (4,), (3, 1), (1, 4), (3, 4, 1), ())))

    def make(rng):
        return rng.normal(size=shape), rng.random(chosen) < 0.5, 2.0

    check(data.draw(st.sampled_from((a_number, an_update))), make, exact=True)


# -- memory in common ------------------------------------------------------------------------------
def itself(x):
    x[x] = False


def its_opposite(x):
    x[~x] = True


def one_further(x):
    x[1:][x[:-1]] = True


def one_back(x):
    x[:-1][x[1:]] = True


def reversed_by_itself(x):
    x[::-1][x] = True


def numbers_of_its_bytes(x):
    x.view(np.int8)[x] = 5
    return x.view(np.int8)


def truth_of_its_bytes(x):
    x.view(np.int8).view(bool)[x] = False


def a_pending_view(x):
    y = ~x
    part = y[::2]
    part[part] = False
    y[1:][y[:-1]] = True
    return y, part


@pytest.mark.parametrize(
    "fn",
    [
        itself,
        its_opposite,
        one_further,
        one_back,
        reversed_by_itself,
        numbers_of_its_bytes,
        truth_of_its_bytes,
        a_pending_view,
    ],
)
def test_masks_that_are_the_array(fn):
    check(fn, lambda rng: (rng.random(24) > 0.6,), seeds=range(6))


def test_arguments_that_overlap():
    def store(x, mask):
        x[mask] = True

    def make(rng):
        x = rng.random(24) > 0.6
        return x[1:], x[:-1]

    check(store, make, seeds=range(4))


def test_the_number_may_be_a_view_of_the_array():
    def store(x):
        x[x > 0] = x[2:3].reshape(())
        return x

    check(store, lambda rng: (rng.normal(size=20),), seeds=range(4), exact=True)


def test_results_that_were_kept_do_not_change():
    @runmat.jit
    def store(x, mask):
        y = x + 0
        y[mask] = 0
        return y

    x, mask = np.arange(8.0), np.arange(8) > 3
    kept = [store(x, mask) for _ in range(5)]
    assert len({id(each) for each in kept}) == 5
    assert all((each == [0, 1, 2, 3, 0, 0, 0, 0]).all() for each in kept)
    assert (x == np.arange(8)).all()


# -- events and exceptions -------------------------------------------------------------------------
def test_events_are_those_of_the_chosen_elements():
    def divide(x, mask, value):
        x[mask] /= value
        return x

    for chosen in (0.0, 1.0):

        def make(rng, chosen=chosen):
            x = np.where(rng.random(30) < 0.5, 1e308, 0.0)
            return x, np.full(30, bool(chosen)), 0.0

        check(divide, make, seeds=range(8))


def test_a_warning_as_an_exception_leaves_the_array_as_it_was():
    def grow(x, mask):
        x[mask] *= 1e300

    decorated = runmat.jit(grow)
    for _ in range(4):
        decorated(np.ones(9), np.ones(9, bool))
    for fn in (grow, decorated):
        x = np.full(9, 1e300)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
                fn(x, np.ones(9, bool))
        assert (x == 1e300).all()


def test_the_right_hand_side_is_evaluated_after_the_elements_are_found():
    def names(x, mask, known):
        if known:
            y = 2.0
        x[mask] += y
        return x

    for shape in (4, 5):
        expected = observe(names, (np.ones(4), np.ones(shape, bool), False), {})
        for _ in range(3):
            found = observe(runmat.jit(names), (np.ones(4), np.ones(shape, bool), False), {})
            compare(expected, found)


def test_a_right_hand_side_that_writes_the_array_comes_after_the_read():
    def store(x, mask):
        def two():
            x[:] = 7
            return 2.0

        x[mask] += two()
        return x

    check(store, lambda rng: (rng.normal(size=9), rng.random(9) < 0.5), seeds=range(3))


def test_other_operands_are_left_to_numpy():
    def update(x, mask, y):
        x[mask] += y
        x[mask] **= 2
        x[mask] = y
        return x

    check(update, lambda rng: (rng.normal(size=6), np.arange(6) < 3, rng.normal(size=3)))


# -- NumPy's functions -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call",
    [
        lambda x, mask: np.putmask(x, mask, [1.0, 2.0]),
        lambda x, mask: np.putmask(x, mask[::2], 1.0),
        lambda x, mask: np.putmask(a=x, mask=mask, values=1.0),
        lambda x, mask: np.putmask(x, mask, x[::-1]),
        lambda x, mask: np.putmask(x, x, 5.0),
        lambda x, mask: np.copyto(x, 1, where=mask),
        lambda x, mask: np.copyto(x, np.float32(1), where=mask, casting="safe"),
        lambda x, mask: np.copyto(x, x[::-1], where=mask),
        lambda x, mask: np.copyto(x, 1j, where=mask),
        lambda x, mask: np.copyto(x, 1.0, where=mask[:1]),
        lambda x, mask: np.copyto(x, 1.0),
        lambda x, mask: np.copyto(dst=x, src=2, where=mask),
    ],
)
def test_calls_of_numpy(call):
    check(call, lambda rng: (rng.normal(size=8), rng.random(8) < 0.5), exact=True)
