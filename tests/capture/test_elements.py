"""Loops over elements. Oracle: undecorated Python, for everything a caller can see; counts of
programs, for what is not compiled.
"""

import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record import balance
from tests.capture.behavior import check

pytestmark = pytest.mark.sampled(2)

CALLS = (0, 0, 1, 0, 2, 1, 0)
LOG = []
LENGTHS = [0]


def total(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i]
    return s


def of_items(x):
    s = x[0] * 0
    for v in x:
        if v > 0:
            s = s + v
        elif v == 0:
            s = s - {0: 1}[0]  # no loop that runs natively
    return s


def numbers_of_python(x):
    found = []
    for i in range(x.shape[0]):
        found.append((float(x[i]), x[i].item(), int(x[i]) + 1, bool(x[i]), x.item(i)))
    return found


def extremes(x):
    best, at = x[0], 0
    for i in range(1, x.size):
        if x[i] > best:
            best, at = x[i], i
    return best, at, x[at], type(best), min(x[0], x[1]), max(x[-1], x[-2])


def recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i]
    return y


def in_place(x):
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return x


def sorted_by_swaps(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def rows_and_columns(x):
    m = x.reshape(-1, 2)
    out = np.empty((2, m.shape[0]))
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            out[j, i] = m[i, -j] * 2 - m[-1, j]
    return out


def indices_by_values(x):
    order = np.argsort(x, kind="stable")
    found = [x[order[i]] for i in range(len(x))]
    x[order[0]] = 5
    return found, x[order[1]], x[int(order[2])]


def among_whole_arrays(x):
    y = x * 2
    for i in range(len(x)):
        y = y + x[i]
        if y[0] > 20:
            y = y - x
            y[i] = 1
        x[i] = y[-1]
    return y, x.max()


def read_between_writes(x):
    for i in range(1, len(x) - 1):
        a = x[i + 1]
        x[i] = a * 2
        x[1:] = x[1:] + 1
        if x[i] > 5:
            x[i] = a - x[i - 1]
    return x


def through_views(x):
    v, w = x[::-1], x[1:]
    for i in range(len(w)):
        w[i] = v[i] + 1
        if w[i] > x[i]:
            v[i] = x[0]
    return x, v


def writes_then_decisions(x):
    y = x + 0
    for i in range(len(x)):
        y[i] = x[i] - 1
    if y.sum() > 0:
        y[0] = y[1]
    for i in range(len(x)):
        if y[i] < 0:
            y[i] = -y[i]
    return y


def kinds_of_numbers(x):
    a, b = x[0], x[1]
    return a + b, a * 2, 2 - a, a > b, a == b, -a, abs(b), a + True, a * np.float32(2), a != 1.5


def after_an_effect(x):
    LOG.append(len(x))
    s = x[0]
    for i in range(len(x)):
        s = s + x[i] * 2
        x[i] = s
    return s, x


PROGRAMS = [
    *(total, of_items, numbers_of_python, extremes, recurrence, in_place, sorted_by_swaps),
    *(rows_and_columns, indices_by_values, among_whole_arrays, read_between_writes),
    *(through_views, writes_then_decisions, kinds_of_numbers, after_an_effect),
]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i1", "u2"])
@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn, dtype):
    def make(rng):
        return (rng.integers(-3 if dtype[0] != "u" else 0, 9, size=10).astype(dtype),)

    check(fn, make, seeds=CALLS, exact=True)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_that_get_real_numbers(fn, monkeypatch):
    monkeypatch.setattr(balance, "ELEMENTS_LIMIT", 7)
    check(fn, lambda rng: (rng.normal(size=12),), seeds=CALLS, exact=True)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_on_arrays_that_a_replay_frees(fn, monkeypatch):
    monkeypatch.setattr(balance, "ELEMENTS_LIMIT", 100_000)

    def on_a_part(x):
        large = np.repeat(x, 100)
        return fn(large[::100] + 0), fn(large[:8])

    check(on_a_part, lambda rng: (rng.normal(size=8),), seeds=CALLS, exact=True)


def test_events_are_numpys():
    def divide(x, y):
        found = []
        for i in range(len(x)):
            found.append(x[i] / y[i])
            found.append(x[i] * x[i])
        return found

    def make(rng):
        return rng.choice([0.0, 1.0, 1e300, np.inf], size=6), rng.choice([0.0, 2.0], size=6)

    check(divide, make, seeds=(0, 0, 1, 0, 2, 3, 4, 5), exact=True)
    check(lambda x, y: divide(x.astype("i4"), y.astype("i4")), lambda: (np.ones(3), np.ones(3)))


def test_integers_that_wrap_warn():
    def square(x):
        return [x[i] * x[i] for i in range(len(x))]

    check(square, lambda rng: (rng.integers(0, 127, size=5).astype("i1"),), seeds=CALLS)


@pytest.mark.parametrize("state", ["ignore", "warn", "raise"])
def test_states_of_errors_around_elements(state):
    def fn(x):
        with np.errstate(all=state):
            a = x[0] / x[1]
        return a, x[1] / x[0]

    def make(rng):
        return (rng.choice([0.0, 1.0], size=2),)

    check(fn, make, seeds=(*range(6), *range(6)))


def test_warnings_that_are_exceptions():
    def fn(x):
        s = x[0]
        for i in range(len(x)):
            s = s / x[i]
        return s

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decorated = runmat.jit(fn)
        for _ in range(3):
            with pytest.raises(RuntimeWarning):
                decorated(np.zeros(3))
            assert decorated(np.ones(3)) == 1


@pytest.mark.parametrize("limit", [1000, 7])
def test_positions_that_are_not_there_raise(limit, monkeypatch):
    monkeypatch.setattr(balance, "ELEMENTS_LIMIT", limit)

    def past_the_end(x, n):
        s = 0.0
        for i in range(n):
            s += x[i]
        x[n] = s
        return s

    check(past_the_end, lambda rng: (np.ones(12), int(rng.integers(10, 15))), seeds=range(8))


@pytest.mark.parametrize("limit", [1000, 3])
def test_arrays_that_are_read_only_raise(limit, monkeypatch):
    monkeypatch.setattr(balance, "ELEMENTS_LIMIT", limit)

    def make():
        x = np.ones(12)
        x.flags.writeable = False
        return (x,)

    check(in_place, make)
    check(sorted_by_swaps, make)


def test_values_that_fit_no_element_raise_as_in_numpy():
    def fn(x, value):
        for i in range(len(x)):
            x[i] = value
        return x

    check(fn, lambda: (np.zeros(9, "i1"), 300))
    check(fn, lambda: (np.zeros(9, "i4"), np.float64("nan")))
    check(fn, lambda: (np.zeros(9), 1j))
    check(fn, lambda: (np.zeros(9, "c8"), 1j))


def programs_built():
    return runmat.telemetry.snapshot()["programs_built"]


@pytest.mark.parametrize("fn", [total, of_items, numbers_of_python, extremes, in_place, recurrence])
def test_more_elements_compile_no_more_programs(fn):
    counts = []
    for size in (31, 301):
        before = programs_built()
        decorated = runmat.jit(fn)
        for number in range(3):
            decorated(np.arange(float(size)) + number)
        counts.append(programs_built() - before)
    assert 4 >= counts[0] >= counts[1]


def test_functions_of_single_numbers_step_aside():
    decorated = runmat.jit(extremes)
    for number in range(20):
        x = np.arange(5.0) + number
        assert decorated(x) == extremes(x)
    assert decorated.explain(np.arange(5.0)).mode == "plain Python"
    assert decorated.cache_info().misses == 1


def test_long_loops_are_plain_python_after_one_call():
    decorated, x = runmat.jit(of_items), np.arange(5000.0)
    for _ in range(3):
        assert decorated(x) == of_items(x)
    info = decorated.cache_info()
    assert (info.misses, info.hits, info.plain) == (1, 0, 2)
    explanation = decorated.explain(x)
    assert explanation.mode == "plain Python"
    assert [reason.id for reason in explanation.reasons] == ["trace-too-long"]


def test_long_loops_beside_work_on_arrays_are_recorded():
    def fn(x, y):
        for i in range(len(x)):
            y = y + x[i]
        return y * 2

    decorated = runmat.jit(fn)
    x, y = np.ones(1200), np.ones(2000)
    for _ in range(2):
        np.testing.assert_array_equal(decorated(x, y), fn(x, y))
    assert decorated.cache_info().hits == 1


def test_long_loops_whose_numbers_have_bits_of_our_own_keep_them():
    def fn(x):
        s = np.exp(x).sum()
        for i in range(len(x)):
            s = s + x[i]
        return s

    decorated, x = runmat.jit(fn), np.linspace(0, 1, 1500)
    assert len({decorated(x).tobytes() for _ in range(20)}) == 1


def test_reasons_do_not_add_up():
    def fn(x):
        s = np.exp(x).sum()
        LOG.append(1)
        for i in range(len(x)):
            s = s + x[i]
        return s

    decorated, x = runmat.jit(fn), np.linspace(0, 1, 1500)
    counts = []
    for _ in range(4):
        decorated(x)
        counts.append(len(decorated.explain(x).reasons))
    assert counts == counts[:1] * 4


def test_functions_that_are_to_be_captured_whole_are():
    decorated, x = runmat.jit(total, fullgraph=True), np.arange(1500.0)
    assert decorated(x) == decorated(x) == total(x)
    assert decorated.cache_info().hits == 1


# -- numbers beside whole arrays -------------------------------------------------------------------
def from_zero_to_one(x):
    return (x - x[0]) / (x[-1] - x[0])


def trapezoids(x):
    return (x[1] - x[0]) * (x.sum() - 0.5 * (x[0] + x[-1]))


def of_a_total(x):
    return x / x.sum() * float(x.max()), x - x.mean() * x[3]


def kernels_of(decorated, *args):
    before = runmat.telemetry.snapshot()["kernel_launches"]
    decorated(*args)
    return runmat.telemetry.snapshot()["kernel_launches"] - before


@pytest.mark.parametrize("fn", [from_zero_to_one, trapezoids, of_a_total])
def test_numbers_beside_arrays_are_recorded_once_for_all_values(fn):
    decorated = runmat.jit(fn)
    before = programs_built()
    for number in range(5):
        x = np.linspace(1 + number, 9, 50)
        np.testing.assert_allclose(decorated(x), fn(x), rtol=1e-12, atol=1e-12)
        built = programs_built() - before
        assert built == (1 if fn is not of_a_total else built)
    info = decorated.cache_info()
    assert (info.misses, info.hits) == (1, 4)


def test_numbers_beside_arrays_are_part_of_their_kernel():
    decorated, x = runmat.jit(from_zero_to_one), np.linspace(1, 2, 50)
    decorated(x)
    assert kernels_of(decorated, x) == 1


def test_a_decision_by_elements_is_one_kernel():
    decorated, x = runmat.jit(lambda x: x * 2 if x[0] < x[1] else x), np.linspace(1, 2, 50)
    decorated(x)
    assert kernels_of(decorated, x) == 2
    assert kernels_of(decorated, -x) == 1


def test_one_program_adds_every_element_to_an_array():
    def fn(x, y):
        for i in range(len(x)):
            y = y + x[i] * 2
            if y[0] > 1e6:
                return y
        return y

    counts = []
    for size in (5, 40):
        before = programs_built()
        runmat.jit(fn)(np.ones(size), np.ones(20))
        counts.append(programs_built() - before)
    assert max(counts) <= 2  # the first time, and all others


def test_warnings_keep_the_order_of_the_program():
    def fn(x, y):
        found = []
        for i in range(len(x)):
            y = y / (x + 1)
            found.append(x[i] / y.dtype.type(0))
            found.append(y * 1e300)
        return found, y

    def make(rng):
        return rng.choice([-1.0, 1.0, 0.0], size=4), rng.choice([1e10, 0.0, 1.0], size=4)

    check(fn, make, seeds=(0, 0, 1, 0, 2, 3, 1, 4, 5, 6, 7, 2), exact=True)


@pytest.mark.parametrize("state", ["ignore", "warn", "raise"])
def test_pending_numbers_are_computed_under_their_own_state(state):
    def fn(x):
        a = x[0] / x[1]
        with np.errstate(all=state):
            b = x[2] / x[3]
        return a, b, x[4] / x[5], x + b

    check(fn, lambda rng: (rng.choice([0.0, 1.0], size=6),), seeds=(*range(6), *range(6)))


def test_reads_before_writes_show_what_was_there():
    def fn(x):
        a, b = x[0], x[1]
        x[0] = b
        x[1] = a
        c = x[0] * 2
        x += 1
        return a, b, c, x[0], a - x[1]

    check(fn, lambda rng: (rng.normal(size=5),), seeds=CALLS, exact=True)


def test_numbers_of_arrays_that_a_replay_has_freed_are_known_to_python():
    def fn(x, y):
        large = np.repeat(x, 2000) * 2
        z = y + 1
        a = large[0] * 3
        b = large[1]
        del large
        if z[0] > 0:
            z = z * a
        int_b = np.searchsorted(y, b)
        return z, a, b, int_b

    check(fn, lambda rng: (rng.normal(size=5), np.sort(rng.normal(size=7))), seeds=range(8))


def test_reads_of_freed_arrays_are_not_made_again_where_a_later_call_raises():
    def fn(x, y, place):
        large = np.repeat(x, 2000)
        z, found = y + 1, []
        for number in range(3):
            found.append(large[number] * 2)
        del large
        try:
            return np.take(z, place), found
        except IndexError:
            return found, z

    def make(rng):
        return rng.normal(size=5), rng.normal(size=7), np.array([rng.integers(4, 10)])

    check(fn, make, seeds=(0, 1, 0, 2, 3, 4, 5, 6, 1, 2, 3))


# -- many decisions --------------------------------------------------------------------------------
def escape_times(x):
    counts = np.zeros(len(x), int)
    for number in range(len(x)):
        z, n = 0j, 0
        while abs(z) <= 2 and n < 30:
            z = z * z + complex(x[number], 0.1)
            n += 1
        counts[number] = n
    return counts


def bisected(x):
    found = []
    for number in range(200):
        low, high = 0, len(x)
        while low < high:
            middle = (low + high) // 2
            if x[middle] < number:
                low = middle + 1
            else:
                high = middle
        found.append(low)
    return found


@pytest.mark.parametrize("fn", [escape_times, bisected])
def test_many_decisions_by_numbers_are_plain_python_after_one_call(fn):
    decorated, x = runmat.jit(fn), np.linspace(-2, 0.2, 90)
    for _ in range(3):
        np.testing.assert_array_equal(decorated(x), fn(x))
    info = decorated.cache_info()
    assert (info.misses, info.plain) == (1, 2)


@pytest.mark.parametrize("size", [3, 60_000])
def test_many_decisions_beside_work_on_arrays_are_recorded_without_notes(size):
    def fn(x, limit):
        steps = 0
        while x.max() < limit:
            x = x * 1.001 + 0.001
            steps += {0: 1}[0]  # no loop that runs natively
        return x, steps

    decorated, x = runmat.jit(fn), np.full(size, 1.0)
    for limit in (10.0, 10.0, 11.0, 10.0):
        expected, steps = fn(x, limit)
        before = programs_built()
        found, ours = decorated(x, limit)
        np.testing.assert_array_equal(found, expected)
        assert steps == ours > 1000
        assert limit == 10.0 or programs_built() == before
    info = decorated.cache_info()
    assert info.traces == info.segments == 0
    assert info.misses <= 4


def test_decisions_of_calls_that_end_sooner_are_kept():
    def fn(x, limit):
        while x.max() < limit:
            x = x * 1.01 + 0.001
        return x

    decorated, x = runmat.jit(fn), np.full(500, 1.0)
    for _ in range(3):
        np.testing.assert_array_equal(decorated(x, 2.0), fn(x, 2.0))
    assert decorated.cache_info().hits == 2


def test_calls_that_a_replay_has_begun_are_not_begun_again_in_plain_python():
    def fn(x):
        x += 1
        found = 0.0
        for number in range(LENGTHS[0]):
            if x[number % 8] > 0:
                found = found + x[number % 8]
        return found

    def run(function, steps):
        x, seen = np.zeros(8), []
        for length, sign in steps:
            LENGTHS[0] = length
            x[:] = sign
            seen.append((function(x), x.copy()))
        return seen

    steps = [(3, 1), (1500, 1), (3, 1), (3, -3), (1500, -3), (1500, 1), (3, -3), (3, 1)]
    for (result, left), (expected, there) in zip(
        run(runmat.jit(fn), steps), run(fn, steps), strict=True
    ):
        assert result == expected
        np.testing.assert_array_equal(left, there)


def test_warnings_of_numbers_are_given_once_where_a_later_call_raises():
    """Found by random programs: a step that had warned was done again."""

    def fn(x):
        total = 0.0
        for number in range(3):
            total = total + x[number] / (x[number + 1] + 1)
        return int(total), x * 2

    def make(rng):
        return (rng.choice([-1, 0, 1, 2], size=6),)

    check(fn, make, seeds=(0, 0, 1, 2, 1, 3, 0, 4, 5, 2, 6, 3, 7, 8))


def test_reads_past_the_end_are_met_again_by_python():
    """Found by random programs: such a read is no entry of a tape."""

    def fn(x, places):
        for number in range(6):
            x *= 2
            try:
                x[0] = x[number + 4]
            except IndexError:
                x[1] = x.max()
        if x[1] > 40:
            x[places[0]] = 1
        if x[2] < 0:
            x[0] = x[3] - 1
        return x

    def make(rng):
        return rng.normal(size=6), rng.integers(0, 4, 3)

    check(fn, make, seeds=(*range(9), *range(9)), exact=True)


def test_real_numbers_warn_at_the_line_of_the_program(monkeypatch):
    """Found by random programs: augmented assignments warned at a line of ours."""
    monkeypatch.setattr(balance, "ELEMENTS_LIMIT", 5)

    def fn(x):
        total = x[0]
        for number in range(5):
            x[number] *= x[number + 1]
            total += x[number]
            total = total * x[number]
        return total

    check(fn, lambda rng: (rng.integers(-100, 100, 6).astype("i1"),), seeds=CALLS, exact=True)


def test_scalars_before_traced_numbers_compute_as_numpys_scalars():
    """NumPy hands on its ufunc, which does not warn of integers that wrap."""

    def fn(x):
        hundred = np.int8(100)
        return (
            hundred * x[0],
            hundred + x[1],
            hundred - x[0],
            np.int8(3) // x[1],
            np.add(hundred, x[0]),
        )

    check(fn, lambda rng: (rng.integers(0, 127, 6).astype("i1"),), seeds=(*CALLS, *range(8)))
