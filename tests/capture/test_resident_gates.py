"""Oracle: the same function on ndarrays, on the same device; the gate tells which calls it made.

What a call may find changed since the one before: the arrays, who looks at their memory, how NumPy
is to report events. Each is tried with each program, whose warm calls go through a gate.
"""

import threading
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.backends.wgpu.memory import DeviceMemory
from runmat_jit.core.errors import BackendError

pytestmark = pytest.mark.usefixtures("gpu")


def smooth(x, y):
    return np.tanh(x) * 0.5 + y


def several(x, y):
    z = x - y.mean(axis=0)
    return z, (z > 0).sum(axis=0), np.sqrt(y)


def turned(x, y):
    return x.T * 2 + 1, y


def centered(x, y):
    return np.log(x) - (x * y).sum(axis=1, keepdims=True)


def totals(x, y):
    return (x * y).sum(), x.max(), (y > 0.5).any(), np.log(x).sum(dtype=np.float64)


def array_and_number(x, y):
    z = np.log(x) - y
    return z, z.mean()


NUMBERS = [totals, array_and_number]
PROGRAMS = [smooth, several, turned, centered, *NUMBERS]


def ramp(*shape, low=-1, dtype=np.float32):
    return np.linspace(low, 1, int(np.prod(shape)), dtype=dtype).reshape(shape)


def hits(decorated):
    """How many calls the entries of the gate have made."""
    gate = decorated._captured[1].gatekeeper.gate
    return sum(int(entry.words[1]) for entry in gate._entries) if gate is not None else 0


def ours(*arrays):
    return [runmat.asarray(array, "gpu") for array in arrays]


def warmed(fn, *arrays):
    """The function after calls that have made an entry of its gate, and its oracle."""
    decorated, oracle = runmat.jit(fn, device="gpu"), runmat.jit(fn, device="gpu")
    warm(decorated, *arrays)
    return decorated, oracle


def warm(decorated, *arrays):
    for _ in range(4):
        decorated(*arrays)
    assert hits(decorated), "the gate makes such calls"


def check(functions, arguments, *, at_gate):
    """A call with arrays of ours gives what one with ndarrays does."""
    decorated, oracle = functions
    plain = [np.array(each) if isinstance(each, runmat.Array) else each for each in arguments]
    before = hits(decorated)
    result = decorated(*arguments)
    assert (hits(decorated) > before) is at_gate
    found = result if isinstance(result, tuple) else (result,)
    expected = oracle(*plain)
    for one, other in zip(
        found, expected if isinstance(expected, tuple) else (expected,), strict=True
    ):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if isinstance(other, np.generic):
            assert type(one) is type(other)
        else:
            assert any(one is each for each in arguments) or one.device == "gpu"
        np.testing.assert_array_equal(one, other)
    return found


def fresh(x, y):
    return ours(ramp(8, 16, low=0.5), ramp(8, 16, low=0.25))


def written_on_the_host(x, y):
    x[1] = 3
    return x, y


def written_through_a_view(x, y):
    x[2:][0] = 5
    return x, y


def results_of_programs(x, y):
    double = runmat.jit(lambda a: a * 2, device="gpu")
    return double(x), double(y)


def parts_of_others(x, y):
    return runmat.asarray(np.concatenate([x, y]), "gpu")[4:12], y


SEEN_BY_THE_GATE = [fresh, written_on_the_host, written_through_a_view, results_of_programs]
SEEN_BY_THE_GATE += [parts_of_others]


@pytest.mark.parametrize("change", SEEN_BY_THE_GATE)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_calls_with_arrays_alike_go_through_the_gate(fn, change):
    x, y = ours(ramp(8, 16, low=0.5), ramp(8, 16))
    functions = warmed(fn, x, y)
    check(functions, (x, y), at_gate=True)
    reports = fn in NUMBERS and change is parts_of_others  # logarithms of negative elements
    check(functions, change(x, y), at_gate=not reports)


@pytest.mark.parametrize("fn", NUMBERS)
@pytest.mark.parametrize("invalid", ["warn", "ignore", "raise"])
def test_numbers_report_events_as_without_a_gate(fn, invalid):
    """Where nobody asks for events, the gate makes the call; else Python reports them."""
    right, wrong = ours(ramp(8, 16, low=0.5)), ours(ramp(8, 16))
    functions = warmed(fn, *right, *right)
    with np.errstate(invalid=invalid):
        for given in (wrong, right, wrong, wrong, right):
            seen = []
            for call, (x,) in zip(functions, (given, [np.array(given[0])]), strict=True):
                before = hits(functions[0])
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    try:
                        found = repr([np.asarray(each) for each in call(x, x)])
                    except FloatingPointError as error:
                        found = str(error)
                seen.append((found, sorted(str(each.message) for each in caught)))
                at_gate = hits(functions[0]) > before
                assert not at_gate or given is right or invalid == "ignore"
            assert seen[0] == seen[1]


def held(x, y):
    held.views = np.asarray(x), np.asarray(y)  # somebody who may look at the memory at any time
    return x, y


def one_for_both(x, y):
    return x, x


def two_on_one_memory(x, y):
    both = runmat.asarray(np.concatenate([x, y]), "gpu")
    return both[:8], both[8:]


def ndarray_beside(x, y):
    return x, np.array(y)


def other_extents(x, y):
    return ours(ramp(9, 16, low=0.5), ramp(9, 16))


def other_elements(x, y):
    return ours(ramp(8, 16, low=0.5).astype(np.int32), ramp(8, 16))


def other_order(x, y):
    return ours(ramp(16, 8, low=0.5))[0].T, y


NOT_FOR_THE_GATE = [held, one_for_both, two_on_one_memory, ndarray_beside]
NOT_FOR_THE_GATE += [other_extents, other_elements, other_order]


@pytest.mark.parametrize("change", NOT_FOR_THE_GATE)
@pytest.mark.parametrize("fn", PROGRAMS)
def test_other_calls_are_made_by_python(fn, change):
    x, y = ours(ramp(8, 16, low=0.5), ramp(8, 16))
    functions = warmed(fn, x, y)
    check(functions, change(x, y), at_gate=False)
    held.views = ()
    warm(functions[0], x, y)
    check(functions, (x, y), at_gate=True)


@pytest.mark.parametrize("action", ["raise", "ignore", "warn"])
def test_events_raise_and_results_that_stay_warn_of_none(action):
    x, y = ours(ramp(8, 16, low=0.5), ramp(8, 16))
    decorated, oracle = warmed(centered, x, y)
    x[0, 0] = -1
    plain = np.array(x), np.array(y)
    with np.errstate(invalid=action):
        if action == "raise":
            with pytest.raises(FloatingPointError, match="invalid value encountered in log"):
                decorated(x, y)
            return
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = decorated(x, y)
        assert not told, "as documented"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(found, oracle(*plain))


def test_warnings_that_are_errors_are_raised():
    x, y = ours(ramp(8, 16, low=0.5), ramp(8, 16))
    decorated, _ = warmed(centered, x, y)
    x[0, 0] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="invalid value encountered in log"):
            decorated(x, y)


def test_numbers_are_those_of_the_call():
    decorated = runmat.jit(lambda x, a, n: x * a + n, device="gpu")
    (x,) = ours(ramp(100))
    for a in (0.5, 2.0, -3.25, 1e30, np.inf, 2.0, 0.5):
        for n in (3, -1):
            np.testing.assert_array_equal(
                decorated(x, a, n), np.array(x) * np.float32(a) + np.float32(n)
            )
    assert hits(decorated) > 4
    results = [decorated(x, a, 1) for a in (2.0, 3.0, 4.0)]  # none waits for the one before
    for a, result in zip((2.0, 3.0, 4.0), results, strict=True):
        np.testing.assert_array_equal(result, np.array(x) * np.float32(a) + 1)


def test_arguments_and_results_keep_their_identity():
    decorated = runmat.jit(lambda x, y: (x, (z := x + y), z, y), device="gpu")
    x, y = ours(ramp(50), ramp(50, low=0))
    for _ in range(6):
        found = decorated(x, y)
        assert found[0] is x
        assert found[3] is y
        assert found[1] is found[2]
    assert hits(decorated)
    found[1][:] = 0
    np.testing.assert_array_equal(decorated(x, y)[1], np.array(x) + np.array(y))


def stepped(w, x, rate):
    w -= rate * (w - x)


def both(w, x, rate):
    w *= 0.5
    x += rate * w
    return w + x, w


def filled(w, x, rate):
    x[...] = np.tanh(w) + rate
    return x


WRITERS = [stepped, both, filled]


@pytest.mark.parametrize("fn", WRITERS)
def test_writes_into_whole_arguments_go_through_the_gate(fn):
    decorated, oracle = (runmat.jit(fn, device="gpu") for _ in range(2))
    w, x = ramp(30, 40), ramp(30, 40, low=0)
    ours_w, ours_x = ours(w, x)
    part = ours_w[3:, ::2]
    for turn in range(12):
        if turn == 8:
            w[2], ours_w[2] = 7, 7  # the host's side is newer
        rate = 0.25 * (turn % 3)
        found, expected = decorated(ours_w, ours_x, rate), oracle(w, x, rate)
        assert (found is None) == (expected is None)
        if isinstance(found, tuple):
            assert found[1] is ours_w
            np.testing.assert_array_equal(found[0], expected[0])
        elif found is not None:
            assert found is ours_x
        if turn % 4 == 3:  # else nothing is read back in between
            np.testing.assert_array_equal(ours_w, w)
            np.testing.assert_array_equal(ours_x, x)
            np.testing.assert_array_equal(part, w[3:, ::2])
    assert hits(decorated) > 3


@pytest.mark.parametrize("fn", WRITERS)
@pytest.mark.parametrize("which", ["part", "same", "held", "foreign", "read-only"])
def test_other_writes_are_pythons(fn, which):
    decorated, oracle = (runmat.jit(fn, device="gpu") for _ in range(2))
    w, x = ramp(30, 40), ramp(30, 40, low=0)
    arguments = ours(w, x)
    for _ in range(5):
        decorated(*arguments, 0.5)
        oracle(w, x, 0.5)
    whole, plain = runmat.asarray(ramp(60, 40), "gpu"), ramp(60, 40)
    held = None
    if which == "part":
        arguments, w, x = [whole[:30], whole[30:]], plain[:30], plain[30:]
    elif which == "same":
        arguments, x = [arguments[0], arguments[0]], w
    elif which == "held":
        held = np.asarray(arguments[0])
    elif which == "foreign":
        arguments[1] = x.copy()
    else:
        arguments[0] = runmat.Array._over(np.asarray(arguments[0]))
        arguments[1] = runmat.Array._over(np.asarray(arguments[1]))
        with pytest.raises(ValueError, match="read-only"):
            decorated(*arguments, 0.5)
        return
    before = hits(decorated)
    for rate in (0.5, 0.25):
        decorated(*arguments, rate)
        oracle(w, x, rate)
        np.testing.assert_array_equal(arguments[0], w)
        np.testing.assert_array_equal(arguments[1], x)
        if held is not None:
            np.testing.assert_array_equal(held, w)
    assert hits(decorated) <= before
    np.testing.assert_array_equal(whole, plain)


BIAS = None


class Layer:
    def __init__(self, weight):
        self.weight = weight

    def apply(self, x):
        return np.tanh(x * self.weight) + BIAS


@pytest.mark.parametrize("given", ["array of ours", "ndarray"])
def test_arrays_in_attributes_and_globals_go_through_the_gate(monkeypatch, given):
    values = [ramp(40), ramp(40, low=0.5)]
    layer = Layer(*ours(values[0]))
    monkeypatch.setitem(globals(), "BIAS", ours(values[1])[0])
    decorated, x = runmat.jit(layer.apply.__func__, device="gpu"), ramp(40, low=-2)
    oracle = runmat.jit(lambda x, w, b: np.tanh(x * w) + b, device="gpu")
    most = 0
    for turn in range(14):
        if turn == 6:
            (layer.weight,) = ours(values[0][::-1].copy())
        elif turn == 8:
            BIAS[3] = values[1][3] = 7
        elif turn == 10:
            held = np.asarray(layer.weight)
        elif turn == 12:
            monkeypatch.setitem(globals(), "BIAS", ours(values[1][:1])[0])
        operand = x if given == "ndarray" else ours(x)[0]
        found = decorated(layer, operand)
        assert isinstance(found, runmat.Array)
        np.testing.assert_array_equal(found, oracle(x, np.array(layer.weight), np.array(BIAS)))
        most = max(most, hits(decorated))
    assert held.shape == (40,)
    assert most > 2


@pytest.mark.parametrize(
    "fn", [lambda x: x.sum(keepdims=True).reshape(()), lambda x: x[1:], np.sort]
)
def test_programs_of_other_kinds_stay_pythons(fn):
    decorated, oracle = runmat.jit(fn, device="gpu"), runmat.jit(fn, device="gpu")
    (x,), plain = ours(ramp(40)), ramp(40)
    for _ in range(6):
        np.testing.assert_array_equal(decorated(x), oracle(plain))
        np.testing.assert_array_equal(x, plain)
    assert not hits(decorated)


def test_a_device_that_fails_leaves_the_call_to_the_cpu(monkeypatch):
    x, y = ours(ramp(8, 16, low=0.5), ramp(8, 16))
    decorated, _ = warmed(smooth, x, y)
    expected = np.array(decorated(x, y))

    def refuse(*_args, **_kwargs):
        raise BackendError("no room")

    monkeypatch.setattr(DeviceMemory, "empty", refuse)
    np.testing.assert_allclose(decorated(x, y), expected, rtol=1e-6, atol=1e-6)


def test_threads_get_their_own_results():
    x, y = ours(ramp(300, low=0.5), ramp(300))
    decorated, _ = warmed(smooth, x, y)
    failed = []

    def calls(number):
        (mine,) = ours(ramp(300, low=number))
        expected = np.array(decorated(mine, y))
        for _ in range(30):
            if not np.array_equal(decorated(mine, y), expected):
                failed.append(number)

    threads = [threading.Thread(target=calls, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
