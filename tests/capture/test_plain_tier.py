"""Functions are plain Python until they have paid. Oracle: undecorated Python, to the bit."""

import functools
import gc
import inspect
import json
import os
import subprocess
import sys
import traceback
import warnings
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import runmat_jit as runmat
from runmat_jit.core import evidence
from runmat_jit.core.config import Config, read_config
from runmat_jit.core.evidence import ELEMENTS, Evidence, Work, code_of
from runmat_jit.core.hotness import LOOKS
from runmat_jit.core.prices import RECORDING_PAYS
from runmat_jit.loops import driver
from runmat_jit.loops import program as loop_program
from runmat_jit.runtime.session import Session, current_session, use_session
from tests.capture.behavior import compare, observe
from tests.capture.random_programs import programs as random_programs
from tests.capture.test_random_programs import call_all
from tests.conftest import PROFILE
from tests.parity.parity import check, configurations
from tests.parity.program import programs

PROGRAMS = programs()
ARRAYS = "runmat_jit.array"


@pytest.fixture
def hot(monkeypatch):
    """Compiled when it has paid, as by default; no arrays of ours are in use."""
    monkeypatch.delitem(sys.modules, ARRAYS, raising=False)
    before = use_session(Session(Config(trials=False)))
    yield
    use_session(before)


def compiled_after(decorated, work):
    """A decorated function that is compiled after so much work."""
    found = decorated._dispatcher.plain_tier.evidence
    found.least, found.spent, found.gap = RECORDING_PAYS - work, 0, 0
    decorated._dispatcher.come_back()
    current_session().ledger.earned = 1 << 60
    return decorated


# -- evidence --------------------------------------------------------------------------------------
def chain(x):
    return np.sqrt(x * x + 1.0) - x


def steps(u, v, number):
    for _ in range(number):
        v += 0.1 * u
        u -= 0.1 * v
    return u


def elements(a):
    total = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total += a[i, j] * 2.0
    return total


def pairs(a, b):
    total = 0.0
    for i in range(len(a)):
        for j in range(len(b)):
            total += a[i] * b[j]
    return total


class Model:
    def __init__(self, size):
        self.state = np.zeros(size)

    def advance(self):
        self.state = self.state * 0.5 + 1.0


def of_list(items):
    return [np.sqrt(item) for item in items]


N = ELEMENTS
CASES = {
    "few elements": (chain, (np.ones(10),), (4, 4)),
    "as many as take a thousand calls": (chain, (np.ones(1000 * N),), (4004, 4004)),
    "an integer is a size": (lambda n: np.ones(n) * 2, (10 * N,), (23, 23)),
    "a size that may be a seed": (lambda n: np.ones(n) * 2, (2**40,), (131, 131)),
    "arrays in attributes": (Model.advance, (Model(10 * N),), (22, 22)),
    "a loop over elements": (elements, (np.ones((80, 80)),), (2_420, 19_360)),
    "a loop over all pairs": (pairs, (np.ones(2000), np.ones(500)), (1_000, 500_000)),
    "a loop of steps on arrays": (steps, (np.ones(4 * N - 1), np.ones(4 * N - 1), 100), (50, 1611)),
    "the same on large ones": (steps, (np.ones(100 * N), np.ones(100 * N), 100), (40_000, 40_411)),
    "a loop over a list": (of_list, ([1.0] * 800,), (200, 1600)),
    "a loop of which nothing is known": (of_list, (iter(()),), (1, 8)),
}
"""Work estimated low and high, within a factor of two."""


@pytest.mark.parametrize("case", CASES)
def test_work_is_estimated_from_code_and_arguments(case):
    fn, args, (least, most) = CASES[case]
    low, high = Work(fn, args[0]).of(args, {})
    assert least / 2 <= low <= 2 * least
    assert most / 2 <= high <= 2 * most


@pytest.mark.parametrize("debt", [0, 40_000])
def test_calls_that_wait_for_the_work_of_others_are_looked_at_rarely(debt):
    found, x, looks, calls = Evidence(), np.ones(10), 0, 0
    found.ledger.spent = RECORDING_PAYS + debt
    while not found.pays:
        calls += 1 + found.gap
        found.add(chain, 1 + found.gap, (x,), {})
        looks += 1
    assert found.least == found.ledger.earned >= RECORDING_PAYS + debt
    assert looks < 100 + calls // 200


def test_the_instructions_of_a_function_are_counted_by_the_loops_around_them():
    def nested(x):
        y = x * 2
        for i in range(3):
            y = y + i
            while y > 2:
                y = y - 1
        return [y + each for each in x]

    counts = code_of(nested.__code__).by_depth
    assert len(counts) == 3
    assert counts[0][0] == 1
    assert counts[1][0] >= 2  # the sum of the loop, and that of the comprehension
    assert counts[2][0] >= 1


@pytest.mark.parametrize(
    ("calls", "size", "decision"),
    [
        (100, 10, "plain"),
        (60_000, 10, "compiled"),
        (40, 1000 * ELEMENTS, "plain"),
        (60, 1000 * ELEMENTS, "compiled"),
        (1, 100_000 * ELEMENTS, "compiled"),
    ],
)
def test_evidence_decides(calls, size, decision):
    evidence, args = Evidence(), (np.broadcast_to(np.ones(1), (size,)),)
    gap = 0
    while calls:
        made = min(1 + gap, calls)
        gap, calls = evidence.add(chain, made, args, {}), calls - made
    assert ("compiled" if evidence.pays else "plain") == decision


def test_loops_are_looked_at_before_a_function_is_recorded(hot):
    decorated = runmat.jit(steps)
    decorated(np.ones(200 * ELEMENTS), np.ones(200 * ELEMENTS), 300)
    evidence = current_session().evidence(steps.__code__)
    assert evidence.wants_loops
    assert evidence.pays
    assert decorated.cache_info().misses == 0


def waves(x):
    for _ in range(3):
        x = np.tanh(np.sin(x) * np.exp(-x)) + x
    return x


def means(x):
    for _ in range(10):
        x = x * 0.9 + x.mean()
    return x


@pytest.mark.parametrize("fn", [waves, means])
@pytest.mark.parametrize("size", [4 * ELEMENTS, 100 * ELEMENTS])
def test_loops_over_whole_arrays_are_compiled_when_they_have_paid(hot, fn, size):
    decorated, x = runmat.jit(fn), np.linspace(0.1, 2.0, size)
    work = Work(fn).of((x,), {}, calls=65)[0]
    calls = 0
    while not decorated.cache_info().misses:
        np.testing.assert_allclose(decorated(x), fn(x), rtol=1e-12)
        calls += 1
        assert calls * work <= 2 * RECORDING_PAYS
    assert calls * work > RECORDING_PAYS / 2


# -- calls -----------------------------------------------------------------------------------------
@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_in_the_plain_tier(hot, name):
    program = PROGRAMS[name]
    if program.differs:
        pytest.skip(program.differs)
    decorated = compiled_after(runmat.jit(program.fn), 1 << 60)
    check(program, *configurations(program, whole=False), decorated=decorated)
    assert decorated._captured is None or decorated.cache_info().misses == 0


@pytest.fixture
def loops_at_once(hot, monkeypatch):
    """Functions are plain, and their loops are compiled at once however short they are."""
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 1 << 60)
    monkeypatch.setattr(driver, "LOOP_PAYS", 0)
    monkeypatch.setattr(loop_program, "WORTH", 0)
    monkeypatch.setattr(loop_program, "SHORT", 0)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_whose_loops_alone_are_compiled(loops_at_once, name):
    program = PROGRAMS[name]
    if program.differs:
        pytest.skip(program.differs)
    decorated = runmat.jit(program.fn)
    call = functools.partial(decorated)  # compared with a tolerance: loops may have bits of ours
    check(program, *configurations(program, whole=False), decorated=call)
    assert decorated.cache_info().misses == 0


SHARED = 0


def stores_outside(x):
    global SHARED
    kept = 0.0

    def inner(y):
        nonlocal kept
        for value in y:
            kept = kept * 0.5 + value
        return kept

    for value in x:
        SHARED = value * 2
    return inner(x), kept, SHARED


def looks_at_variables(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
    return sorted(locals()), total


def evaluates(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i]
    return eval("total + i")


def leaves_early(x):
    for i in range(len(x)):
        if x[i] > 5:
            break
    else:
        return "none"
    while i > 0:
        i -= 1
    return i


class Parent:
    def value(self, x):
        return x.sum()


class Child(Parent):
    def value(self, x):
        total = 0.0
        for i in range(len(x)):
            total = total * 0.5 + x[i]
        return super().value(x) + total


def guarded(x):
    try:
        for i in range(len(x) + 1):
            x[i] = x[i] * 2
    except IndexError as error:
        return str(error), i
    finally:
        for i in range(len(x)):
            x[i] = x[i] + 1


OF_LOOPS = [
    *(stores_outside, looks_at_variables, evaluates, leaves_early, guarded),
    functools.partial(Child.value, Child()),
]


@pytest.mark.parametrize("fn", OF_LOOPS, ids=range(len(OF_LOOPS)))
def test_what_surrounds_loops_is_as_it_stands(loops_at_once, fn):
    decorated = runmat.jit(fn.func) if isinstance(fn, functools.partial) else runmat.jit(fn)
    first = fn.args if isinstance(fn, functools.partial) else ()
    for size in (9, 0, 300, 300, 1):
        x, y = np.arange(size * 1.0), np.arange(size * 1.0)
        compare(observe(fn, (x,), {}), observe(functools.partial(decorated, *first), (y,), {}))
        np.testing.assert_array_equal(x, y)


def test_nothing_of_the_compiler_is_loaded_for_functions_that_are_not_hot():
    code = """
import sys, numpy as np, runmat_jit as runmat
def made(k):
    @runmat.jit
    def fn(x, n=3):
        for i in range(n):
            x = x * k + np.sin(x)
        return x.sum()
    return fn
functions = [made(k) for k in range(20)]
for fn in functions:
    for _ in range(5):
        fn(np.ones(100))
assert functions[0].__wrapped__(np.ones(9)) == functions[0](np.ones(9))
print(*[m for m in sys.modules if m.startswith(("runmat_jit.c", "runmat_jit.b", "llvmlite"))])
"""
    environment = {**os.environ, "RUNMAT_COMPILE": "hot"}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(found.stdout.split())
    allowed = {f"runmat_jit.compiler{each}" for each in ("", ".explain", ".region_report")}
    assert {name for name in loaded if not name.startswith("runmat_jit.core")} <= allowed


def test_two_processes_compile_at_the_same_call_with_the_same_bits(tmp_path):
    code = """
import json, sys, numpy as np, runmat_jit as runmat
@runmat.jit
def fn(x):
    return (np.exp(-x * x) + x.mean()).sum()
x, seen = np.linspace(-1, 1, 300_001), []
for k in range(200):
    seen.append(fn(x + k).hex())
print(json.dumps([fn.cache_info().misses, fn.cache_info().plain, seen]))
"""
    path = tmp_path / "program.py"
    path.write_text(code)
    found = []
    for number, cache in enumerate((tmp_path, tmp_path, "none")):
        environment = {
            **os.environ,
            "RUNMAT_COMPILE": "hot",
            "RUNMAT_CACHE_DIR": str(cache),
            "RUNMAT_NUM_THREADS": str(1 + number),
        }
        done = subprocess.run(
            [sys.executable, path], env=environment, capture_output=True, text=True, check=True
        )
        found.append(json.loads(done.stdout))
    assert found[0] == found[1] == found[2]
    recorded, plain, _ = found[0]
    assert recorded >= 1
    assert 10 < plain < 200


def test_a_history_of_calls_does_what_plain_python_does_whenever_it_is_compiled(hot):
    def fn(x, log, by=1.0):
        log.append(len(log))
        if x.size == 3:
            raise ValueError(by)
        x += by
        return x * SCALE + len(log)

    rng = np.random.default_rng(5)
    for price in (1, 5, 20, 60, 100):
        decorated = compiled_after(runmat.jit(fn), price)
        logs = [], []
        for number in range(40):
            size, dtype = int(rng.integers(1, 6)), rng.choice(["f4", "f8"])
            x = rng.normal(size=size).astype(dtype)
            fn.__globals__["SCALE"] = 2.0 + (number // 10)
            ours, theirs = x.copy(), x.copy()
            results = []
            for called, argument, log in ((decorated, ours, logs[0]), (fn, theirs, logs[1])):
                try:
                    results.append(called(argument, log, by=float(number % 3)))
                except ValueError as error:
                    results.append(str(error))
            assert type(results[0]) is type(results[1])
            np.testing.assert_array_equal(results[0], results[1])
            np.testing.assert_array_equal(ours, theirs)
        assert logs[0] == logs[1]
        assert decorated.cache_info().misses >= 1


SCALE = 2.0


@settings(max_examples=15 if PROFILE == "default" else 300)
@given(program=random_programs("exact"), work=st.integers(0, 60))
def test_random_programs_whenever_they_are_compiled(program, work):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "RECORDING_PAYS", work)
        patch.delitem(sys.modules, ARRAYS, raising=False)
        before = use_session(Session(replace(read_config(), compile="hot")))
        try:
            call_all(program, exact=True)
        finally:
            use_session(before)


# -- loops -----------------------------------------------------------------------------------------
def accumulated(x, out, stop):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + x[i]
        out[i] += total
        if i == stop:
            raise ValueError(i)
    return total


def of_helper(x, out, stop):
    return accumulated(x, out, stop) + 1.0


@pytest.mark.parametrize("fn", [accumulated, of_helper])
@pytest.mark.parametrize("stop", [-1, 90_000])
def test_a_long_loop_is_compiled_in_the_first_call_and_its_effects_happen_once(hot, fn, stop):
    decorated, x = runmat.jit(fn), np.random.default_rng(2).normal(size=100_000)
    runs = current_session().telemetry.snapshot()["loops_run"]
    for number in range(3):
        ours, theirs = np.ones(len(x)), np.ones(len(x))
        compare(observe(fn, (x, theirs, stop), {}), observe(decorated, (x, ours, stop), {}))
        np.testing.assert_array_equal(ours, theirs)
        assert decorated.cache_info().plain >= 1 - number
    ran = current_session().telemetry.snapshot()["loops_run"] - runs
    assert ran == (3 if stop < 0 else 0)  # Python raises, at the user's line


def to_its_end(x, out, stop):
    i, total = 0, 0.0
    while i < len(x):
        total = total * 0.5 + x[i]
        out[i] += total
        if i == stop:
            raise ValueError(i)
        i += 1
    return total, i


def with_breaks(x, out, stop):
    i, skipped = -1, 0
    while True:
        i += 1
        if i >= len(x):
            break
        if x[i] < -1.0:
            skipped += 1
            continue
        out[i] += x[i] * 2.0 + out[i - 1]
        if i == stop:
            out[i + 200_000] = 0.0
    return i, skipped


def in_nests(x, out, stop):
    i, total = 0, 0
    while i < len(x) - 60:
        k = 0
        while x[i + k] > 0.0 and k < 50:
            k += 1
        out[i] = k
        total += k
        if i == stop:
            raise ValueError(total)
        i += 1
    return i, total


def with_else(x, out, stop):
    i = 0
    while i < len(x):
        out[i] += x[i]
        if i == stop:
            raise ValueError(i)
        i += 1
    else:  # noqa: PLW0120  (what is tested)
        i = -i
    return i


WHILES = to_its_end, with_breaks, in_nests, with_else


@pytest.mark.parametrize("fn", WHILES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("stop", [-1, 90_000])
@pytest.mark.parametrize("budget", [1000, 500_000, 1 << 40])
def test_a_while_is_compiled_at_an_iteration(hot, monkeypatch, fn, stop, budget):
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(driver, "LOOP_PAYS", budget)
    decorated, x = runmat.jit(fn), np.random.default_rng(2).normal(size=100_000)
    before = current_session().telemetry.snapshot()
    for _ in range(2):
        ours, theirs = np.ones(len(x)), np.ones(len(x))
        compare(observe(fn, (x, theirs, stop), {}), observe(decorated, (x, ours, stop), {}))
        np.testing.assert_array_equal(ours, theirs)
    after = current_session().telemetry.snapshot()
    runs, turns = (after[name] - before[name] for name in ("loops_run", "loop_turns"))
    if stop < 0 and budget < 1 << 40 and fn in (to_its_end, in_nests):
        assert runs >= 2
        assert turns < 2 * len(x)  # the first began in Python


TABLE = dict.fromkeys(range(7), 0.5)


def never_native(n):
    i, total = 0, 0.0
    while i < n:
        total += TABLE[i % 7]
        TABLE[i % 7] = total % 3.0
        i += 1
    return i


@pytest.mark.parametrize("n", [300, 9000])
def test_a_while_that_never_runs_natively_is_looked_at_rarely(hot, monkeypatch, n):
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 1 << 60)
    monkeypatch.setattr(driver, "LOOP_PAYS", 1000)
    decorated, looks, find = runmat.jit(never_native), [], driver.find
    for _ in range(10):
        assert decorated(n) == n
    monkeypatch.setattr(driver, "find", lambda *args, **kw: looks.append(1) or find(*args, **kw))
    for _ in range(400):
        decorated(n)
    assert len(looks) < 400 // 20


@pytest.mark.parametrize("fn", WHILES, ids=lambda fn: fn.__name__)
@pytest.mark.parametrize("stop", [-1, 3, 700, 15_000])
def test_a_compiled_while_that_ends_early_is_pythons_and_a_long_one_is_not(
    hot, monkeypatch, fn, stop
):
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 1 << 60)
    monkeypatch.setattr(driver, "LOOP_PAYS", 1000)
    decorated, x = runmat.jit(fn), np.random.default_rng(2).normal(size=20_000)

    def native_runs(length, calls):
        before = current_session().telemetry.snapshot()["loops_run"]
        for _ in range(calls):
            ours, theirs = np.ones(length), np.ones(length)
            part = x[:length]
            compare(
                observe(fn, (part, theirs, stop), {}), observe(decorated, (part, ours, stop), {})
            )
            np.testing.assert_array_equal(ours, theirs)
        return current_session().telemetry.snapshot()["loops_run"] - before

    native_runs(20_000, 2)
    native_runs(80, 6)
    few, many = native_runs(80, 6), native_runs(20_000, 2)
    if stop < 0 and fn is to_its_end:
        assert (few, many) == (0, 2)


def pooled(image, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.max(image[2 * i : 2 * i + 2, 2 * j : 2 * j + 2])


def test_loops_over_extents_are_looked_at_after_some_calls(hot):
    decorated, image = runmat.jit(pooled), np.random.default_rng(3).random((64, 64))
    for _ in range(60):
        ours, theirs = np.zeros((32, 32)), np.zeros((32, 32))
        decorated(image, ours)
        pooled(image, theirs)
        np.testing.assert_array_equal(ours, theirs)
    assert current_session().telemetry.snapshot()["loops_run"] > 10


def multiplied(x, n):
    total = 1.0
    for _ in range(n):
        total = total * x + 0.25
    return total


def summed(x):
    total = 0.0
    for i in range(len(x)):
        total = total * 0.5 + x[i]
    return total


def scaled_by_the_largest(x):
    for _ in range(4):
        x = x * np.isfinite(x)
        x = np.clip(x / (np.abs(x).max() + 1.0), -1.0, 1.0)
    return x.sum()


@pytest.mark.parametrize(
    ("fn", "short", "long"),
    [
        (multiplied, (0.5, 300), (0.5, 9000)),
        (summed, (np.ones(60),), (np.ones(3000),)),
        (scaled_by_the_largest, (np.ones(100),), (np.ones(100_000),)),
    ],
)
def test_loops_that_are_shorter_than_a_native_run_are_pythons(hot, monkeypatch, fn, short, long):
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 1 << 60)
    monkeypatch.setattr(driver, "LOOP_PAYS", 0)
    """One run may tell what the loop does."""
    for args, runs in ((short, {0, 1}), (long, {6, 7})):
        decorated = runmat.jit(fn)
        for _ in range(6):
            assert decorated(*args) == fn(*args)
        assert current_session().telemetry.snapshot()["loops_run"] in runs


def test_trials_leave_plain_calls_alone(hot, monkeypatch):
    use_session(Session(Config(trials=True)))
    monkeypatch.setattr(evidence, "LOOPS_PAY", 0)
    decorated, x = runmat.jit(to_its_end), np.ones(30_000)
    for _ in range(6):
        decorated(x, np.ones(len(x)), -1)
    assert not decorated._captured[1].bailout.kinds


def test_loops_that_do_not_run_natively_lose_their_hooks(hot):
    def fn(n):
        found = {}
        for i in range(n):
            found[i] = str(i)
        return len(found)

    decorated = runmat.jit(fn)
    for _ in range(2 * LOOKS):
        assert decorated(100_000 if not decorated.cache_info().plain else 9) in (100_000, 9)
    form = decorated._captured[1].direct_form()
    assert form is fn


# -- what programs see -----------------------------------------------------------------------------
def failing(x):
    return x[100]


def warning(x):
    warnings.warn("seen from", stacklevel=2)
    return x


def named(x, /, y, *, z=1):
    return x, y, z


@pytest.mark.parametrize("calls", [1, 2, 9])
def test_tracebacks_warnings_and_refused_arguments_are_pythons(hot, calls):
    decorated = runmat.jit(failing)
    for _ in range(calls):
        with pytest.raises(IndexError) as raised:
            decorated(np.ones(3))
    frames = traceback.extract_tb(raised.value.__traceback__)
    assert [frame.name for frame in frames][1:] == ["failing"]
    decorated = runmat.jit(warning)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(calls):
            decorated(1)
    assert {(each.filename, each.lineno) for each in seen} == {(__file__, line_of("decorated(1)"))}
    decorated = runmat.jit(named)
    for _ in range(calls):
        with pytest.raises(
            TypeError, match=r"named\(\) missing 1 required positional argument: 'y'"
        ):
            decorated(1)
        assert decorated(1, y=2, z=3) == (1, 2, 3)


def who_called():
    return sys._getframe(2).f_code.co_name


def asks_for_its_caller(x):
    return who_called(), x + 1


def test_functions_that_look_at_frames_above_find_the_programs(hot):
    decorated = runmat.jit(asks_for_its_caller)
    for _ in range(4):
        found, value = decorated(1)
        assert found == "test_functions_that_look_at_frames_above_find_the_programs"
        assert value == 2


def line_of(text):
    lines = inspect.getsource(sys.modules[__name__]).splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == text)


def test_recursions_are_as_deep_as_in_plain_python(hot):
    def deepest(call):
        low, high = 1, 2000
        while low < high:
            middle = (low + high + 1) // 2
            try:
                call(middle)
                low = middle
            except RecursionError:
                high = middle - 1
        return low

    def down(n):
        return 0 if n == 0 else 1 + down(n - 1)

    plain = deepest(down)
    down = runmat.jit(down)
    ping.__globals__.update(ping=ping, pong=pong)
    one, two = deepest(ping), None
    decorated = {"ping": runmat.jit(ping), "pong": runmat.jit(pong)}
    ping.__globals__.update(decorated)
    try:
        two = deepest(decorated["ping"])
    finally:
        ping.__globals__.update(
            ping=decorated["ping"].__wrapped__, pong=decorated["pong"].__wrapped__
        )
    assert deepest(down) >= plain - 12
    assert two >= one - 12


def ping(n):
    return 0 if n == 0 else 1 + pong(n - 1)


def pong(n):
    return 0 if n == 0 else 1 + ping(n - 1)


# -- who asks for more -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "config"),
    [
        ({"compile": "first call"}, {}),
        ({"fullgraph": True}, {}),
        ({}, {"compile": "first call"}),
        ({}, {"reproducible": True}),
        ({}, {"verify": 1}),
    ],
)
def test_a_first_call_is_compiled_if_that_is_asked_for(hot, options, config):
    decorated = runmat.jit(**options)(chain)
    if config:
        before = runmat.jit(chain)
        before(np.ones(3))
        assert before.cache_info().plain == 1
        runmat.config(**config)
        before(np.ones(3))
        assert before.cache_info().misses == 1
    decorated(np.ones(3))
    assert decorated.cache_info().misses == 1


def test_an_option_of_a_function_is_stronger_than_that_of_the_session(hot):
    runmat.config(compile="first call")
    decorated = runmat.jit(compile="hot")(chain)
    decorated(np.ones(3))
    assert decorated.cache_info().misses == 0
    with pytest.raises(runmat.ArgumentError, match="there are hot, first call"):
        runmat.jit(compile="never")
    with pytest.raises(runmat.ConfigError, match="it must be one of"):
        runmat.config(compile="never")


def test_arrays_of_ours_ask_for_it(hot):
    decorated = runmat.jit(chain)
    decorated(np.ones(3))
    sys.modules[ARRAYS] = sys.modules.get(ARRAYS) or type(sys)("stand-in")
    runmat.config()  # nothing changes
    use_session(Session(Config(trials=False)))
    decorated(np.ones(3))
    assert decorated.cache_info().misses == 1


def test_switched_off_functions_are_plain_until_options_change(hot):
    decorated = runmat.jit(chain)
    runmat.config(disable_jit=True)
    for _ in range(4):
        decorated(np.ones(3))
    assert decorated._dispatcher.plain_tier.calls == 0  # nobody looks
    runmat.config(disable_jit=False, compile="first call")
    decorated(np.ones(3))
    assert decorated.cache_info().misses == 1


def test_a_story_says_that_a_function_is_not_compiled_yet(hot):
    decorated = runmat.jit(chain)
    assert "no call" in decorated.story()
    for _ in range(3):
        decorated(np.ones(3))
    assert "not compiled yet" in decorated.story()


def test_values_of_globals_are_not_asked_for_anything(hot):
    class Curious:
        def __getattr__(self, name):
            raise AssertionError(name)

    namespace = {"np": np, "ASKED": Curious()}
    source = "def fn(x, y):\n    ASKED\n    return x + 1\n"
    exec(source, namespace)
    decorated = runmat.jit(namespace["fn"])
    for _ in range(4):
        assert decorated(np.ones(2), Curious()).tolist() == [2, 2]


def test_explanations_record_a_call_and_leave_the_tier(hot):
    decorated = runmat.jit(chain)
    decorated(np.ones(3))
    explanation = decorated.explain(np.ones(3))
    assert explanation.mode == "plain Python"
    assert explanation.kinds == ["elementwise"]
    assert "not compiled yet" in explanation.notes[-1]
    for _ in range(4):
        decorated(np.ones(3))
    assert decorated.cache_info().hits == 0
    assert current_session().config.compile == "hot"


def test_a_decorated_function_within_a_recording_is_followed(hot):
    inner = runmat.jit(chain)
    inner(np.ones(3))

    @runmat.jit(compile="first call")
    def outer(values):
        return sorted(values, key=lambda x: float(inner(x).sum()))

    values = [np.full(3, 2.0), np.full(3, 1.0)]
    for _ in range(4):
        assert outer(values)[0] is values[0]
        assert inner.cache_info().misses == 0


# -- functions made anew ---------------------------------------------------------------------------
def over_arrays(jit, x, w, k):
    @jit
    def inner(v):
        return np.exp(-v * w) * k + np.sum(v * v)

    return inner(x)


def that_rebind(jit, x, w, k):
    calls = 0

    @jit
    def inner(v):
        nonlocal calls
        calls += 1
        return v * w + calls * k

    return inner(x) + inner(x), calls


def with_defaults(jit, x, w, k):
    @jit
    def inner(v, *rest, by=w, **named):
        v += 1.0
        return v @ by + k, len(rest), sorted(named)

    return inner(x, 1, other=2), inner(x, by=x)


def that_raise(jit, x, w, k):
    @jit
    def inner(v):
        total = np.sqrt(v * w).sum()
        if k > 0.5:
            raise ValueError(f"{k}")
        return total

    return inner(x)


def that_warn(jit, x, w, k):
    @jit
    def inner(v):
        warnings.warn("one", stacklevel=1)
        warnings.warn("two", stacklevel=2)
        return np.log(v * 0.0) * k + w

    return inner(x)


def that_call_each_other(jit, x, w, k):
    @jit
    def first(v):
        return np.tanh(v) * w

    @jit
    def second(v):
        return first(v) + np.cos(first(v * k))

    return second(x)


def that_yield(jit, x, w, k):
    @jit
    def inner(v):
        for number in range(3):
            yield v * w + number * k

    return [*inner(x)]


ANEW = (
    *(over_arrays, that_rebind, with_defaults, that_raise, that_warn),
    *(that_call_each_other, that_yield),
)


@pytest.mark.parametrize("outer", ANEW, ids=lambda fn: fn.__name__)
def test_functions_made_anew_share_recordings_and_keep_nothing_alive(hot, monkeypatch, outer):
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 100)
    monkeypatch.setattr(evidence.Evidence, "spend", lambda *_args, **_kwargs: None)
    rng, seen = np.random.default_rng(0), []
    for number in range(60):
        x, w, k = rng.random(3000), rng.random(3000), float(rng.random())
        seen.append(weakref.ref(w))
        plain = observe(functools.partial(outer, lambda fn: fn), (x.copy(), w, k), {})
        compare(plain, observe(functools.partial(outer, runmat.jit), (x.copy(), w, k), {}))
        del plain, x, w
    gc.collect()
    assert [reference for reference in seen if reference() is not None] == []
    if outer in (over_arrays, with_defaults):
        assert len(current_session().made_anew) == 1
        assert current_session().telemetry.snapshot()["calls_replayed"] > 20


def test_functions_that_live_long_have_recordings_of_their_own(hot, monkeypatch):
    monkeypatch.setattr(evidence, "RECORDING_PAYS", 500)

    def make(factor):
        return runmat.jit(lambda v: np.sqrt(v * v + factor))

    made = [make(float(number)) for number in range(20)]
    for number, each in enumerate(made):
        for _ in range(40):
            np.testing.assert_allclose(each(np.arange(5.0)), np.sqrt(np.arange(5.0) ** 2 + number))
    assert not current_session().made_anew


def test_formulas_for_other_shapes_are_made_from_a_third_one_on(hot, monkeypatch):
    monkeypatch.setattr(evidence.Evidence, "pays", True)
    decorated = runmat.jit(chain)
    told = []
    for size in (1000, 1000, 37, 37, 64, 64, 101, 102):
        x = np.arange(float(size))
        np.testing.assert_allclose(decorated(x), chain(x), rtol=1e-12)
        told.append(decorated.cache_info().misses)
    assert told == [1, 1, 2, 2, 3, 3, 3, 3]
    captured = decorated._captured[1]
    (family,) = captured.families.known.values()
    assert len(captured.records) == 3
    assert [len(site.trusted) for site in family.sites.values()] == [1]
