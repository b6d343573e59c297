"""Short loops within calls that need no Python. Oracle: the undecorated functions, to the bit.

A gate runs them beside its other steps. What is seen of a call must not depend on that, whatever
comes of it: numbers and arrays of other kinds and sizes, exits in mid-loop, warnings, threads.
"""

import threading
import types

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.compiler import gate_loops
from runmat_jit.loops import native_loop
from runmat_jit.loops.program import LoopCall
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops import random_arrays, random_loops

pytestmark = pytest.mark.sampled(6)

WARM = 4
"""Calls after which there is an entry of a gate."""


@pytest.fixture
def by_python(monkeypatch):
    """How often loops were run, or tried, by Python since the last question."""
    seen, attempt = [0], LoopCall.attempt

    def counted(self, *args, **kwargs):
        seen[0] += 1
        return attempt(self, *args, **kwargs)

    def since():
        found, seen[0] = seen[0], 0
        return found

    monkeypatch.setattr(LoopCall, "attempt", counted)
    return since


def warm(fn, *makes, calls=WARM):
    """A decorated function whose calls on such arguments go through a gate."""
    decorated = runmat.jit(fn)
    for _ in range(calls):
        same(decorated, fn, *makes)
    return decorated


def has_stepped_aside(decorated):
    """True if plain calls, whose loops may be native, are taken to gain as much."""
    return bool(decorated._captured[1].bailout.kinds)


def same(decorated, fn, *makes):
    """Compare a call with the function's."""
    expected = observe(fn, tuple(make() for make in makes), {})
    compare(expected, observe(decorated, tuple(make() for make in makes), {}), exact=True)


def give(*values, dtype="d"):
    return lambda: np.array(values, dtype)


def ramp(n, dtype="d"):
    return lambda: np.arange(1, n + 1).astype(dtype)


def number(value):
    return lambda: value


# -- programs --------------------------------------------------------------------------------------
def doubled(x):
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = x[i] * 2
    return out


def total(x, s):
    for i in range(len(x)):
        s = s + x[i]
    return s


def in_place(x, k):
    for i in range(len(x)):
        x[i] = x[i] + 100 // (k - i)
    return x


def steps(n):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def solved(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r.copy()
    rho = r @ r
    for _ in range(len(b)):
        if rho < 1e-9:
            break
        q = a @ p
        alpha = rho / (p @ q)
        x = x + alpha * p
        r = r - alpha * q
        rho, old = r @ r, rho
        p = r + rho / old * p
    return x, p


CASES = {
    "a new array": (doubled, [ramp(9)], [[ramp(9)], [ramp(9, "f")], [ramp(3)], [ramp(0)]]),
    "numbers": (steps, [number(27)], [[number(n)] for n in (1, 2, 97, True, 2**40, 2**62 + 1)]),
    "what is added to": (
        total,
        [ramp(9), number(0.0)],
        [[ramp(n, d), number(s)] for n in (1, 9) for d in "dfil" for s in (0, 0.5, np.float32(1))],
    ),
    "an array of the caller's": (
        in_place,
        [ramp(9, "l"), number(100)],
        [[ramp(n, "l"), number(k)] for n in (0, 1, 9) for k in (100, 5, 0, -1)],
    ),
    "arrays that a turn makes": (
        solved,
        [lambda: np.eye(4) * 2 + 0.25, ramp(4)],
        [[lambda n=n: np.eye(n) * 3 + 0.5, ramp(n)] for n in (1, 2, 4, 5)],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_loops_run_without_python(case, by_python):
    fn, makes, _ = CASES[case]
    decorated = warm(fn, *makes)
    by_python()
    before = runmat.telemetry.snapshot()
    for _ in range(5):
        same(decorated, fn, *makes)
    now = runmat.telemetry.snapshot()
    assert not by_python()
    assert now["loops_run"] - before["loops_run"] == 5
    assert now["loop_turns"] > before["loop_turns"]


@pytest.mark.parametrize("case", CASES)
def test_other_arguments_after_an_entry_was_made(case):
    fn, makes, others = CASES[case]
    decorated = warm(fn, *makes)
    for other in others:
        for given in (other, makes, other, other, makes):
            same(decorated, fn, *given)


@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_any_length_needs_no_entry_of_its_own(n, by_python):
    decorated = runmat.jit(doubled)
    for length in (*range(3, 12), *range(3, 12)):
        same(decorated, doubled, ramp(length))
    by_python()
    same(decorated, doubled, ramp(n))
    assert by_python() <= (n < 2)


# -- what a loop leaves for ------------------------------------------------------------------------
ENDINGS = {
    "IndexError": "x[i + k]",
    "ZeroDivisionError": "x[i] + 6 // (3 - i - k)",
    "OverflowError": "x[i] * 1.0 + (2**62 + k * 2**61) * 2 ** k",
    "a warning": "x[i] / (y[i] - k)",
    "ValueError": "x[i] + math.sqrt(3 - i - k)",
    "raise": "x[i] if i + k < 5 else failed(i)",
}
"""Expressions of a turn that end otherwise where ``k`` is not 0."""
TARGETS = {
    "a new array": ("z = np.zeros(6)", "z[i] = {}", "z"),
    "the caller's": ("z = x", "y[i] = {}", "y"),
    "both": ("z = np.zeros(6)", "y[i] = z[i] = {}", "z"),
    "a number": ("z = 0.0", "z = z + {}", "z"),
    "after a write": ("z = np.zeros(6); y *= 2; z = z + 1", "z[i] = z[i] + {}", "z"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_in_mid_loop(ending, target):
    first, statement, result = TARGETS[target]
    text = f"""def f(x, y, k):
    {first}
    for i in range(6):
        {statement.format(ENDINGS[ending])}
    return {result}
"""
    import math  # noqa: PLC0415  (given to the text)

    def failed(i):
        raise KeyError(i)

    fn = function_from(text, np=np, math=math, failed=failed)
    makes = ramp(6), give(*range(2, 8))
    decorated = warm(fn, *makes, number(0))
    for k in (3, 0, 1, 5, 0, -1, 0):
        same(decorated, fn, *makes, number(k))


MEMORY = {
    "y[:]": True,
    "y[1:]": True,
    "y.reshape(2, 3)[1]": True,
    "y.reshape(2, 3).ravel()": True,
    "np.asarray(y)": True,
    "y + 0": True,
    "y.copy()": True,
    "np.full(6, 2.0)": True,
    "y[::-1]": False,
    "y[::2]": False,
}
"""What a loop stores to: the caller's memory, mostly. True: native code runs the loop."""


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("memory", MEMORY)
def test_every_memory_that_a_loop_stores_to(memory, ending, gaps, by_python):
    """What has been added when the loop leaves is not added twice."""
    text = f"""def f(x, y, k):
    z = {memory}
    for i in range(len(z)):
        z[i] = z[i] + {ENDINGS[ending].replace("y[i]", "(4 - i)")}
    return z
"""
    import math  # noqa: PLC0415  (given to the text)

    def failed(i):
        raise KeyError(i)

    def spread():
        return np.repeat(np.arange(2.0, 8.0), 3)[::3]

    fn = function_from(text, np=np, math=math, failed=failed)
    makes = ramp(6), spread if gaps else give(*range(2, 8))
    decorated = warm(fn, *makes, number(0), calls=16)
    by_python()
    same(decorated, fn, *makes, number(0))
    if MEMORY[memory] and not gaps:
        assert not by_python() or has_stepped_aside(decorated)
    for k in (2, 0, 1, 3, 0, -1, 0):
        same(decorated, fn, *makes, number(k))


@pytest.mark.parametrize(
    "part", ["np.diag(a)", "a[:, 1]", "a.T[1]", "a[1]", "a.T", "a[:, ::-1]", "a[::2, 1:]"]
)
def test_parts_of_arrays_that_a_loop_reads(part, by_python):
    text = f"""def f(a, s):
    v = {part}
    for i in range(len(v)):
        s = s + v[i] * (i + 1)
    return s
"""
    fn = function_from(text, np=np)
    make = lambda n=4, order="C": np.asarray(np.arange(n * n * 1.0).reshape(n, n), order=order)
    decorated = warm(fn, make, number(0.5), calls=16)
    by_python()
    same(decorated, fn, make, number(0.5))
    gated = not by_python() or has_stepped_aside(decorated)
    assert gated or part in ("a.T", "a[:, ::-1]", "a[::2, 1:]")
    for order in ("F", "C"):
        for n in (1, 2, 5, 4):
            same(decorated, fn, lambda n=n, order=order: make(n, order), number(0.5))


def test_a_long_loop_is_run_in_slices(by_python):
    def summed(n):
        s = 0
        for i in range(n):
            s = s + i * i
        return s

    decorated = warm(summed, number(100))
    by_python()
    many = 2 * native_loop.MOST_TURNS
    for n in (100, many, 100):
        same(decorated, summed, number(n))
    assert by_python() == 1


def test_a_large_array_is_stored_to_by_others(by_python):
    def moved(x, k):
        for i in range(40):
            x[i] = x[i + 1] * k
        return x

    large = gate_loops.MOST_SAVED // 8 + 1
    for n, calls in ((100, 0), (large, 3)):
        decorated = warm(moved, ramp(n), number(2.0))
        by_python()
        for _ in range(3):
            same(decorated, moved, ramp(n), number(2.0))
        assert by_python() == calls


# -- what must stay apart --------------------------------------------------------------------------
def test_arrays_of_each_call_are_its_own():
    decorated = warm(solved, lambda: np.eye(3) * 2, ramp(3))
    first = decorated(np.eye(3) * 2, np.arange(3.0))
    kept = [x.copy() for x in first]
    second = decorated(np.eye(3) * 5, np.ones(3))
    for x, before, other in zip(first, kept, second, strict=True):
        np.testing.assert_array_equal(x, before)
        assert not np.may_share_memory(x, other)


def test_one_array_by_two_names_and_arrays_that_overlap():
    def mixed(x, y):
        for i in range(len(x) - 1):
            x[i + 1] = y[i] * 0.5 + x[i]
        return x

    base = np.arange(12.0)
    decorated = warm(mixed, ramp(9), ramp(9))
    for views in ((0, 0), (0, 1), (1, 0), (0, 3)):
        for _ in range(3):
            ours, plain = base.copy(), base.copy()
            mixed(*(plain[k : k + 9] for k in views))
            decorated(*(ours[k : k + 9] for k in views))
            np.testing.assert_array_equal(ours, plain)
    for x in (base[::-1], base[::2]):
        same(decorated, mixed, x.copy, x.copy)
        same(decorated, mixed, lambda x=x: x + 0, lambda x=x: np.repeat(x, 2)[::2])


def test_threads_have_states_of_their_own():
    decorated = warm(total, ramp(50), number(0.0))
    wrong = []

    def work(seed):
        x = np.random.default_rng(seed).normal(size=50)
        expected = total(x, 0.0)
        wrong.extend(1 for _ in range(300) if decorated(x, 0.0) != expected)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_is_reported_is_asked_anew():
    decorated = warm(total, give(1.0, 2.0, 3.0), number(0.0))
    overflowing = give(1e308, 1e308, 1.0)
    for how in ("ignore", "warn", "raise", "ignore", "warn"):
        with np.errstate(all=how):
            for _ in range(3):
                same(decorated, total, overflowing, number(0.0))


def test_other_code_and_other_functions_are_noticed():
    def scaled(v):
        return v * 2

    def fn(x):
        s = 0.0
        for i in range(len(x)):
            s = s + scaled(x[i])
        return s

    def other(v):
        return v * 3

    decorated = warm(fn, ramp(9))
    scaled.__code__ = other.__code__
    same(decorated, fn, ramp(9))
    same(decorated, fn, ramp(9))


# -- random programs -------------------------------------------------------------------------------
def check(programs, seed):
    """Compare twelve calls of a program, on three data sets in turn once it is warm."""
    text, *rounds = found if isinstance(found := programs.program(seed), tuple) else (found,)
    makes = [programs.arguments(each) for each in (seed, seed + 1000, seed + 2000)]
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    for call in range(12):
        make = makes[0] if call < WARM else makes[call % 3]
        expected = observe(fn, make(), {})
        exact = not (rounds and rounds[0])
        compare(expected, observe(decorated, make(), {}), exact=exact)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("programs", [random_loops, random_arrays], ids=["elements", "arrays"])
@pytest.mark.parametrize("first", range(5000, 5120, 3))
def test_random_programs_in_many_calls(programs: types.ModuleType, first):
    for seed in range(first, first + 3):
        check(programs, seed)
