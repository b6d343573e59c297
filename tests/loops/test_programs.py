"""Loops as users write them. Oracle: the undecorated functions, to the bit, in everything seen."""

import math

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks.programs import drawing_loops
from benchmarks.programs.element_loops import PROGRAMS
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(2)

SIZES = {"crc": 40, "csr_product": 12, "sieve": 50, "collatz": 60, "tridiagonal": 25}


@pytest.mark.parametrize(
    "program", [*PROGRAMS, *drawing_loops.PROGRAMS], ids=lambda program: program.fn.__name__
)
def test_programs_of_the_benchmark(program, natively):
    decorated = runmat.jit(program.fn)
    for seed in (0, 1, 2):
        for size in (SIZES.get(program.fn.__name__, 9), 11, 30):
            given = [program.inputs(np.random.default_rng(seed), size) for _ in range(2)]
            expected = observe(program.fn, given[0], {})
            exact = program.fn is not drawing_loops.prices  # which has our own exp
            compare(expected, observe(decorated, given[1], {}), exact=exact)
    assert natively() >= 9


def both(fn, *makes, calls=3, natively=None, times=None):
    """Compare some calls on fresh arguments; how many loops ran natively."""
    decorated = runmat.jit(fn)
    for _ in range(calls):
        expected = observe(fn, tuple(make() for make in makes), {})
        compare(expected, observe(decorated, tuple(make() for make in makes), {}), exact=True)
    if natively is not None:
        assert natively() == (calls if times is None else times)
    return decorated


def array(*values, dtype="d"):
    return lambda: np.array(values, dtype)


def ramp(n, dtype="d"):
    return lambda: (np.arange(n) % 7 - 3).astype(dtype)


def give(value):
    return lambda: value


# -- kinds of numbers ------------------------------------------------------------------------------
def total(x):
    s = 0
    for i in range(len(x)):
        s += x[i]
    return s


@pytest.mark.parametrize("dtype", ["d", "f", "l", "i"])
def test_a_sum_is_of_numpys_class(dtype, natively):
    both(total, ramp(9, dtype), natively=natively)


def test_a_sum_of_nothing_is_what_it_was(natively):
    both(total, ramp(0), natively=natively, times=0)


def test_truth_values_are_counted(natively):
    def fn(x):
        count = 0
        for value in x:
            if value > 0:
                count += 1
        any_negative = False
        for value in x:
            any_negative = any_negative or value < 0
        return count, any_negative

    both(fn, ramp(9), natively=natively, times=6)


def test_a_number_that_was_pythons_until_a_turn_wins(natively):
    """Of Python's class where no turn has changed it."""

    def fn(x):
        best = 0.0
        for value in x:
            best = max(best, value)
        return best

    both(fn, array(-1, -2), natively=natively)
    both(fn, array(-1, 2), natively=natively)


def test_integers_of_python_and_numpy(natively):
    def fn(x, n):
        a, b, c = 1, n, np.int64(3)
        for i in range(1, len(x)):
            a = (a * 31 + i) % 1009
            b = b // 3 - (i << 2) + (x[i] & 6) - (a | 1) + (a ^ i) + (~i >> 1)
            c = c + x[i] * i
        return a, b, c, i

    both(fn, ramp(20, "l"), give(10**6), natively=natively)


@pytest.mark.parametrize("dtype", ["l", "i"])
def test_floor_division_and_remainder_of_all_signs(dtype, natively):
    def fn(x, y, q, r):
        for i in range(len(x)):
            q[i], r[i] = x[i] // y[i], x[i] % y[i]
        return q, r

    values = np.array([7, -7, 7, -7, 0, 1, -1, 6], dtype)
    divisors = np.array([3, 3, -3, -3, 5, -1, 1, 2], dtype)
    both(
        fn,
        values.copy,
        divisors.copy,
        lambda: np.zeros(8, dtype),
        lambda: np.zeros(8, dtype),
        natively=natively,
    )


def test_floats_of_python_and_numpy(natively):
    def fn(x, k):
        a, b, c = 0.5, x[0], np.float32(2)
        for i in range(len(x)):
            a = a * 0.75 + k / 3 - (a // 0.3) + a % 0.7
            b = b + x[i] * a - i
            c = c * np.float32(0.5) + i
        return a, b, c

    both(fn, ramp(12), give(2.5), natively=natively)


def test_functions_of_math_are_the_c_librarys(natively):
    def fn(x):
        s = 0.0
        for v in x:
            w = abs(v) + 0.5
            s += math.sqrt(w) + math.exp(-w) + math.log(w) + math.sin(v) * math.cos(v)
            s += math.atan2(v, w) + math.floor(v * 1.5) + math.pow(w, 1.3) + w**2.5 + v**2
        return s

    both(fn, lambda: np.random.default_rng(0).standard_normal(300), natively=natively)


def test_functions_of_numpy_have_the_bits_of_our_own(natively):
    def fn(x):
        s = 0.0
        for v in x:
            s += np.exp(-v * v) + np.sin(v) + np.maximum(v, 0.5) + np.sqrt(np.abs(v))
        return s

    x = np.random.default_rng(0).standard_normal(50)
    decorated = runmat.jit(fn)
    for _ in range(3):
        found, expected = decorated(x), fn(x)
        assert type(found) is type(expected)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert natively() == 3


def test_conversions(natively):
    def fn(x, n):
        a = b = 0
        c = d = 0.0
        for v in x:
            a += int(v * 1.7)
            b += int(v > 0) + bool(v)
            c += float(v) * float(n)
            d = v.item() + np.float32(v) * np.float64(2)
        return a, b, c, d

    both(fn, ramp(9), give(3), natively=natively)


def test_least_and_greatest(natively):
    def fn(x):
        low, high = x[0], x[0]
        for v in x:
            low, high = min(low, v), max(v, high, 0.5)
        return low, high

    both(fn, ramp(9), natively=natively)
    both(fn, array(1, math.nan, -2), natively=natively)
    both(fn, array(0.0, -0.0), natively=natively)


# -- control flow ----------------------------------------------------------------------------------
def test_break_and_continue(natively):
    def fn(x):
        s, seen = 0.0, -1
        for i in range(len(x)):
            if x[i] < 0:
                continue
            s += x[i]
            if s > 5:
                seen = i
                break
            s *= 0.5
        return s, seen, i

    both(fn, ramp(40), natively=natively)


def test_break_in_an_inner_loop(natively):
    def fn(a):
        found = 0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                if a[i, j] > 2:
                    found += 10 * i + j
                    break
                if a[i, j] == 0:
                    continue
                found -= 1
        return found

    both(fn, lambda: (np.arange(35.0) % 6).reshape(5, 7) - 1, natively=natively)


def test_conditions_are_asked_as_far_as_python_asks(natively):
    def fn(x):
        s = 0.0
        for i in range(len(x)):
            if (i > 0 and x[i - 1] > 0) or (i + 1 < len(x) and x[i + 1] > 1):
                s += 1
            s += x[i] if 0 <= i - 2 < 4 else -x[i]
            if not x[i]:
                s -= 2
        return s

    both(fn, ramp(12), natively=natively)


def test_while_loops(natively):
    def fn(x, tolerance):
        low, high, turns = 0.0, 2.0, 0
        while high - low > tolerance:
            middle = 0.5 * (low + high)
            if middle * middle > x:
                high = middle
            else:
                low = middle
            turns += 1
        return low, turns

    both(fn, give(2.0), give(1e-12), natively=natively)


def test_names_of_a_loop_afterwards(natively):
    def fn(x):
        last = None
        for i, v in enumerate(x):
            for j in range(i):
                w = v * j
            last = v
        return i, v, last

    both(fn, ramp(5))  # `last` is None before, which is no number
    natively()

    def other(x):
        last = 0.0
        for i, v in enumerate(x):
            last = v * i
        return i, v, last

    both(other, ramp(5), natively=natively)


@pytest.mark.parametrize("step", [(0, 9, 2), (8, -1, -1), (9, 0, -3), (3, 3, 1), (5, 2, 1)])
def test_ranges(step, natively):
    start, stop, by = step
    text = f"range({start}, {stop}, {by})"

    lines = "s = 0", f"for i in {text}:", "    s = s * 3 + i + x[i]", "return s"
    fn = function_from("def f(x):\n    " + "\n    ".join(lines) + "\n")
    turns = len(range(*step))
    both(fn, ramp(10), natively=natively, times=3 if turns else 0)


@pytest.mark.parametrize(
    "iterated",
    [
        *("enumerate(x)", "enumerate(x, 1)", "enumerate(x, start=k)", "enumerate(x, -k)"),
        *("enumerate(reversed(x), start=k + 1)", "enumerate(range(k), 2**62)"),
        *("reversed(enumerate(x))", "reversed(zip(x, x))", "reversed(reversed(x))"),
        *("zip(x, x[1:])", "zip(x, x[::-1], strict=True)", "zip(x, x[1:], strict=True)"),
        *("zip(x, x[1:], strict=False)", "enumerate(zip(x, range(k)), start=2)"),
    ],
)
def test_what_python_iterates(iterated):
    """Oracle: Python. Forms that are not known leave the loop to it."""
    body = "j, (v, w)" if "(zip" in iterated else "v, w"
    more = " + j" if "(zip" in iterated else ""
    text = f"""def f(x, k):
    s = 0.0
    for {body} in {iterated}:
        s = s * 0.5 + v * 3 - w{more}
    return s
"""
    fn = function_from(text)
    for k in (0, 1, 5):
        both(fn, ramp(6), give(k))


TUPLES = {
    "numbers": "for d in (-1, 0, 1):\n    s += x[(i + d) % n] * d",
    "pairs": "for d, e in ((1, 0), (-1, 0), (0, 1), [0, -1]):\n    s += d * 3 + e * i",
    "a list": "for w in [0.25, 0.5]:\n    s = s * 0.5 + w",
    "of several classes": "for w in (1, 2.5, True):\n    s = s + w",
    "numbered": "for d, w in enumerate((0.25, 0.5), 1):\n    s += w * x[(i + d) % n]",
    "backwards": "for d in reversed((i, i + 1, 7)):\n    s = s * 0.5 - d",
    "numbered backwards": "for d, w in enumerate(reversed((1, 2))):\n    s = s * 0.5 + d * w",
    "two": "for d, w in zip((0, 1), [1.0, 2.0]):\n    s += w * x[(i + d) % n]",
    "numbers that are bound anew": "for d in (i, i + 1):\n    i += 1\n    s += d * i",
    "arrays": "for a in (x, y):\n    a[i] = a[i] * 0.5 + s\n    s += a[i]",
    "new arrays": "for a in (x * 2, y + s):\n    s += a[i]",
    "passed over": "for d in (0, 1):\n    if d == i % 2:\n        continue\n    s += d",
    "that end": "for d in (0, 1, 2):\n    if x[(i + d) % n] > 0:\n        break\n    s += d",
    "that end at once": "for d in (0, 1, 2):\n    s += d\n    break",
    "nested": "for d in (1, 2):\n    for e in (d, 4):\n        s += e\n        break",
    "around others": "for d in (3, 2):\n    while d > 0:\n        d -= 1\n        s += d + i",
    "none": "for d in ():\n    s = 1 / 0",
    "one": "for d in (i,):\n    s += d",
    "an index that is out of range": "for d in (0, 1, n):\n    s += x[i + d - (i > 2) * d]",
}


@pytest.mark.parametrize("name", TUPLES)
def test_iterating_tuples(name, natively):
    """Turns of few items are written one by one."""
    body = TUPLES[name].replace("\n", "\n        ")
    text = f"def f(x, y, n):\n    s, d = 0.0, -1\n    for i in range(n):\n        {body}\n"
    both(function_from(f"{text}    return x, y, s, d\n"), ramp(9), ramp(9), give(9))
    assert natively() == 3 * ("out of range" not in name)


def test_tuples_in_each_other_are_written_so_often_and_no_more(natively):
    def fn(n, k):
        s = 0
        for i in range(n):
            for a in (0, 1, 2, 3):
                for b in (0, 1, 2, 3):
                    for c in (0, 1, 2, 3):
                        s += a * b - c
                        if s > i + k:
                            break
        return s

    def deeper(n):
        s = 0
        for i in range(n):
            for a in (1, 2, 3, 4, 5, 6, 7, 8, 9):
                for b in (1, 2, 3, 4, 5, 6, 7, 8, 9):
                    s += a * b - i
        return s

    both(fn, give(9), give(20), natively=natively)
    both(deeper, give(9))
    assert "tuples in each other" in str(runmat.jit(deeper).explain(9))


@pytest.mark.parametrize("iterated", ["zip((1, 2), x)", "zip((1, 2, 3), (4, 5))", "(x, 1)", "'ab'"])
def test_tuples_of_python(iterated):
    """Oracle: Python. Forms that are not known leave the loop to it."""
    text = f"def f(x):\n    s = []\n    for i in range(9):\n        for a in {iterated}:\n"
    both(function_from(f"{text}            s = a\n    return s\n"), ramp(4))


def test_iterating_arrays(natively):
    def fn(a, x, y):
        s = 0.0
        for row, v in zip(a, x, strict=True):
            for w in row:
                s += w * v
        for i in reversed(range(len(y))):
            s = s * 0.5 + y[i]
        return s

    both(fn, lambda: np.arange(12.0).reshape(4, 3), ramp(4), ramp(6), natively=natively, times=6)


def test_the_index_may_be_bound_anew(natively):
    def fn(x):
        s = 0.0
        for i in range(len(x)):
            i = i * 2 % len(x)  # noqa: PLW2901  (that is the question)
            s += x[i] * (i + 1)
        return s, i

    both(fn, ramp(7), natively=natively)


def test_names_exchange_their_values(natively):
    def fn(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    both(fn, give(10), natively=natively)
    both(fn, give(11), natively=natively)


# -- arrays ----------------------------------------------------------------------------------------
@pytest.mark.parametrize("make", ["plain", "reversed", "strided", "fortran", "transposed"])
def test_layouts(make, natively):
    def fn(a, out):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                out[i, j] = a[i, j] * 2 - a[-1, j] + a[i][0]
        return out

    def made():
        base = np.arange(60.0).reshape(6, 10)
        return {
            "plain": base[:, :5].copy,
            "reversed": lambda: base[::-1, ::-1],
            "strided": lambda: base[::2, 1::3],
            "fortran": lambda: np.asfortranarray(base),
            "transposed": lambda: base.T,
        }[make]()

    both(fn, made, lambda: np.zeros_like(made(), order="C"), natively=natively)
    both(fn, made, made, natively=natively)


def test_one_array_by_two_names(natively):
    def fn(x, y):
        for i in range(1, len(x)):
            x[i] = y[i - 1] + 1
        return x

    decorated = runmat.jit(fn)
    x = np.arange(6.0)
    assert decorated(x, x).tolist() == [0, 1, 2, 3, 4, 5]
    assert natively() == 1


def test_arrays_that_overlap_are_pythons(natively):
    def fn(x, y):
        for i in range(len(x)):
            x[i] = y[i] * 2
        return x

    decorated = runmat.jit(fn)
    for _ in range(2):
        one, two = np.arange(7.0), np.arange(7.0)
        decorated(one[1:], one[:-1])
        fn(two[1:], two[:-1])
        assert one.tolist() == two.tolist()
    assert natively() == 0


def test_stores_cast_as_assignments_do(natively):
    def fn(x, ints, bools, floats):
        for i in range(len(x)):
            ints[i] = x[i] * 1.5
            bools[i] = x[i]
            floats[i] = x[i] / 3
        return ints, bools, floats

    both(
        fn,
        ramp(9),
        lambda: np.zeros(9, "i"),
        lambda: np.zeros(9, "?"),
        lambda: np.zeros(9, "f"),
        natively=natively,
    )


GAIN = 1.5


class Filter:
    def __init__(self):
        self.rate, self.state = 0.25, np.zeros(3)

    def run(self, x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            self.state[0] = self.state[0] * (1 - self.rate) + x[i] * self.rate
            y[i] = self.state[0] * GAIN
        return y


def test_attributes_and_globals(natively, monkeypatch):
    one, two = Filter(), Filter()
    decorated = runmat.jit(Filter.run)
    for number in range(5):
        if number == 3:
            one.rate = two.rate = 0.5
            monkeypatch.setitem(globals(), "GAIN", 2.5)
        x = np.arange(8.0) + number
        assert decorated(one, x).tolist() == Filter.run(two, x).tolist()
        assert one.state.tolist() == two.state.tolist()
    assert natively() == 5


def test_variables_of_functions_around(natively):
    def outer(scale, table):
        def fn(x):
            s = 0.0
            for i in range(len(x)):
                s += x[i] * scale + table[i % 3]
            return s

        return fn

    for scale in (2.0, 3.0):
        both(outer(scale, np.arange(3.0)), ramp(9), natively=natively)


def test_lengths_never_seen_need_no_other_kernel(natively):
    decorated, rng = runmat.jit(total), np.random.default_rng(0)
    for n in (50, 60, 70, 80):
        decorated(rng.random(n))
    before = runmat.telemetry.snapshot()["kernels_compiled"], decorated.cache_info().misses
    for n in range(90, 120):
        x = rng.random(n)
        assert decorated(x) == total(x)
    assert (
        runmat.telemetry.snapshot()["kernels_compiled"],
        decorated.cache_info().misses,
    ) == before
    assert natively() == 34


# -- functions of the program's --------------------------------------------------------------------
WEIGHT = 3.0


def weighted(v):
    return v * WEIGHT


def limited(v, low, high):
    if v < low:
        return low
    elif v > high:
        return high
    w = weighted(v) / WEIGHT
    return w


def of_limited(x):
    s = 0.0
    for v in x:
        s += limited(v, -1.5, 2.5) + weighted(v)
    return s


def test_functions_of_the_program_are_called(natively, monkeypatch):
    decorated = runmat.jit(of_limited)
    for number in range(6):
        if number == 3:
            monkeypatch.setitem(globals(), "WEIGHT", 5.0)
        if number == 5:
            monkeypatch.setitem(globals(), "weighted", lambda v: -v)
        x = np.arange(9.0) - number
        assert decorated(x) == of_limited(x)
    assert natively() == 6


def bisected(f, low, high):
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        if f(middle) * f(low) > 0:
            low = middle
        else:
            high = middle
    return low


def test_functions_among_the_arguments(natively):
    decorated = runmat.jit(bisected)
    for number, target in enumerate((2.0, 3.0, 2.5, 5.0)):
        if number == 2:
            compiled = runmat.telemetry.snapshot()["kernels_compiled"]
        f = lambda v: v * v - target
        assert decorated(f, 0.0, 9.0) == bisected(f, 0.0, 9.0)
    assert runmat.telemetry.snapshot()["kernels_compiled"] == compiled
    for g in (math.cos, lambda v: v - 1.0):
        assert decorated(g, 0.0, 3.0) == bisected(g, 0.0, 3.0)
    assert natively() == 6


def climbing(v, n):
    return v if n == 0 else climbing(v + 1, n - 1)


def test_functions_that_call_themselves_are_pythons(natively):
    def fn(x):
        s = 0.0
        for v in x:
            s += climbing(v, int(v) % 3)
        return s

    both(fn, ramp(6), natively=natively, times=0)


def test_variables_of_functions_that_are_called_are_their_own(natively):
    def inner(s, v):
        s = s * 2
        for i in range(3):
            s += v * i
        return s

    def fn(x):
        s = 0.0
        for i in range(len(x)):
            s = inner(x[i], s) - i
        return s, i

    both(fn, ramp(6), natively=natively)
