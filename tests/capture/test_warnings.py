"""Floating-point warnings: message, category, line, how often; the oracle is plain NumPy."""

import contextlib
import operator
import subprocess
import sys
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, check_module, compare, observe

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def special(rng):
    values = np.array([0.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 1e308, 1e-308, -0.0])
    return (values,)


@program
def a_logarithm_of_zero(x):
    y = x + 1
    return np.log(x * 0)


@program
def an_attribute_whose_setting_numpy_deprecates(x):
    y = x + 1
    z = y[::2]
    z.strides = y.strides
    y.shape = (3, 3)
    return y * 2, z


@program
def several_events_on_several_lines(x):
    a = np.sqrt(x)
    b = np.log(x)
    c = x / (x - x)
    d = np.exp(x)
    return a, b, c, d


@program
def the_same_operation_on_two_lines(x):
    a = np.sqrt(x)
    b = np.sqrt(x * 1)
    return a + b


@program
def equal_operations(x):
    a = np.sqrt(x)
    b = np.log(x)
    c = np.sqrt(x)
    np.sqrt(x)
    return a, b, c, np.log(x) + np.log(x)


@program
def equal_operations_in_a_loop(x):
    for _ in range(3):
        y = np.sqrt(x)
        y /= 0
    return y


@program
def equal_casts(x):
    return x.astype(np.float32), x.astype(np.float32), x.astype(np.int8)


@program
def casts_within_operations(x):
    y = np.ones(x.size, np.float32)
    y += x
    np.negative(x, out=y, casting="same_kind")
    np.power(x, 2, out=y, casting="same_kind")
    x.round(out=y)
    y[...] = x
    y *= x[6]
    return y


@program
def equal_operations_of_numbers(x):
    return x[2] / x[0], x[2] / x[0], float(np.sqrt(x)[2]), np.sqrt(x)


@program
def numbers_and_arrays_without_axes(x):
    a, b = x[6] * 1, x[6, ...] * 1
    return a * a, np.multiply(a, a), b * b, a * a, a / x[0], np.divide(a, x[0]), a**-a, x[0] // x[0]


@program
def equal_means(x):
    y = x[2:] * 1e308
    return y.mean(), y.mean(), np.prod(y), np.prod(y)


@program
def nobody_asks_for_the_result(x):
    np.sqrt(x)
    y = 1 / x
    return x + 1


@program
def only_the_shape_is_asked_for(x):
    y = np.minimum(np.sqrt(x), 1 / x)
    return np.ones_like(y), np.full_like(np.log(x), 2.0)


@program
def nobody_asks_for_the_mean(x):
    np.mean(np.abs(x) + 1e308)
    np.sum(x * 1e308)
    return x + 1


@program
def ignored_inside(x):
    with np.errstate(all="ignore"):
        y = np.log(x)
    return y, np.sqrt(x)


@program
def ignored_inside_by_what_numpy_computes(x):
    with np.errstate(all="ignore"):
        y = np.log10(x)
        with np.errstate(divide="warn"):
            z = np.log10(x * 0)
    return y, z, np.arccosh(x)


@program
def raised_inside(x):
    try:
        with np.errstate(divide="raise", invalid="raise"):
            y = 1 / (x * 0)
    except FloatingPointError as error:
        y = str(error)
    return y


@program
def a_call_inside(x):
    seen = []
    with np.errstate(divide="call", invalid="call", call=lambda kind, flag: seen.append(kind)):
        y = 1 / (x * 0)
    return y, seen


@program
def printed_inside(x):
    with np.errstate(divide="print"):
        return 1 / x


@program
def errstate_as_a_decorator(x):
    @np.errstate(all="ignore")
    def quiet(y):
        return np.log(y)

    return quiet(x) + 1


@program
def seterr_inside(x):
    old = np.seterr(all="ignore")
    y = np.log(x)
    np.seterr(**old)
    return y + np.sqrt(x)


@program
def integer_division_by_zero(x):
    n = np.array([1, 0, -5])
    return n // 0, n % np.array([0, 0, 2]), n // n


@program
def numbers_of_numpy(x):
    return x[2] / x[0], x[0] / x[0], np.float64(-1) ** 0.5, np.log(x[0])


@program
def overflowing_integer_scalars(x):
    a = np.int32(2**31 - 1)
    return a + np.int32(1), np.int8(127) * np.int8(2)


@program
def casts_of_values_that_do_not_fit(x):
    return x.astype(np.int32), x.astype(np.float32), np.array([300.0]).astype(np.int8)


@program
def reductions(x):
    return x.sum(), x.mean(), x.max(), (x * 1e308).sum(), np.prod(x[2:])


@program
def an_empty_mean(x):
    return np.mean(x[:0]), x[:0].var(), np.nanmean(x[:0])


@program
def host_calls_warn_at_the_line(x):
    y = np.median(x[:0])
    z = np.corrcoef(x[:2] * 0, x[:2] * 0)
    return y, z


@program
def complex_numbers(x):
    return np.log(x * 1j), (x + 0j) / 0


@program
def half_precision(x):
    h = x.astype(np.float16)
    return h * h, np.log(h)


@program
def power_and_remainder(x):
    return x**-1, x**0.5, x % 0, np.fmod(x, 0), np.divmod(x, 0)[0], np.hypot(x, x), np.arctan2(x, 0)


@program
def warnings_of_python(x):
    import warnings

    warnings.warn("hello", stacklevel=1)
    warnings.warn("there", DeprecationWarning, stacklevel=2)
    return np.log(x)


@program
def caught_inside(x):
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = np.log(x)
    return y, [str(w.message) for w in caught]


@program
def raised_by_a_filter_inside(x):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            y = np.log(x)
        except RuntimeWarning as warning:
            y = str(warning)
    return y, np.sqrt(x)


@program
def ignored_by_a_filter_inside(x):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = np.log(x)
    return y


@program
def written_before_and_after(x):
    x[2] = 0
    y = 1 / x
    x[:] = np.sqrt(x)
    return y


@program
def in_place_and_out(x):
    y = x.copy()
    y /= 0
    np.log(x, out=x)
    return y


@program
def in_a_loop(x):
    for _ in range(3):
        x = np.sqrt(x)
    return x


@program
def underflow_reported(x):
    with np.errstate(under="warn"):
        return x * 1e-300 * 1e-300


@program
def where_both_branches_are_computed(x):
    return np.where(x > 0, np.log(x), np.sqrt(x))


@program
def products_of_infinities(x):
    zeros = np.zeros((x.size, 3))
    a = x @ zeros
    b = np.matmul(zeros.T, x[:, None])
    return np.nan_to_num(a), b


@program
def a_value_nan_in_comparisons(x):
    return (
        x > 0,
        np.maximum(x, 0),
        np.sign(x),
        np.isnan(x),
        x == x,
        np.floor(x),
        np.minimum(x, np.nan),
    )


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_warnings_are_numpys(fn):
    check(fn, special, seeds=(0, 0, 0))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_calm_values_warn_of_nothing_more(fn):
    check(fn, lambda rng: (np.abs(rng.normal(size=9)) + 0.5,), seeds=(0, 0, 1))


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_warnings_that_come_later(fn):
    def make(rng):
        calm = np.abs(rng.normal(size=9)) + 0.5
        return special(rng) if calm.sum() < THRESHOLD else (calm,)

    sums = [(np.abs(np.random.default_rng(s).normal(size=9)) + 0.5).sum() for s in range(6)]
    THRESHOLD = sorted(sums)[3]
    order = sorted(range(6), key=lambda s: -sums[s])
    check(fn, make, seeds=(order[0], order[1], order[5], order[5], order[0]))


@pytest.mark.parametrize("order", ["by their operator first", "by the function first"])
def test_operators_of_numbers_have_names_of_their_own(order):
    def fn(x, multiply):
        return multiply(x[0], x[0])

    functions = [operator.mul, np.multiply]
    decorated = runmat.jit(fn)
    for multiply in (functions if "operator" in order else functions[::-1]) * 2:
        x = np.array([1e300, 2.0])
        compare(observe(fn, (x, multiply), {}), observe(decorated, (x, multiply), {}))


STATES = {
    "ignore": {"all": "ignore"},
    "raise": {"all": "raise"},
    "divide raises": {"divide": "raise"},
    "print": {"all": "print"},
    "call": {"all": "call"},
    "log": {"all": "log"},
    "underflow": {"under": "warn"},
}


class Log:
    def __init__(self):
        self.lines = []

    def write(self, text):
        self.lines.append(text)

    def __call__(self, kind, flag):
        self.lines.append((kind, flag))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize(
    "fn",
    [
        several_events_on_several_lines,
        written_before_and_after,
        in_place_and_out,
        reductions,
        numbers_of_numpy,
        integer_division_by_zero,
        power_and_remainder,
    ],
    ids=lambda fn: fn.__name__,
)
def test_error_states_around_the_call(fn, state):
    decorated, calm = runmat.jit(fn), np.arange(1.0, 10.0)
    for values in (special, calm, special, calm, special, special):
        seen = []
        for each in (fn, decorated):
            x = special(None)[0] if values is special else calm.copy()
            log = Log()
            with np.errstate(**STATES[state], call=log if state in ("call", "log") else None):
                seen.append((observe(each, (x,), {}), log.lines))
        compare(seen[0][0], seen[1][0])
        assert seen[0][1] == seen[1][1]


def test_error_states_take_turns():
    fn = several_events_on_several_lines
    decorated = runmat.jit(fn)
    for state in [*STATES.values(), *STATES.values()]:
        log = Log()
        with np.errstate(**state, call=log):
            compare(observe(fn, special(None), {}), observe(decorated, special(None), {}))


def test_a_calls_error_state_is_no_new_kind_of_call():
    decorated = runmat.jit(in_a_loop)
    for _ in range(5):
        with np.errstate(all="ignore"):
            decorated(np.ones(3))
    assert decorated.cache_info().hits == 4


@pytest.mark.parametrize(
    "fn",
    [
        several_events_on_several_lines,
        written_before_and_after,
        in_place_and_out,
        in_a_loop,
        nobody_asks_for_the_result,
    ],
    ids=lambda fn: fn.__name__,
)
def test_a_filter_that_raises_does_so_at_the_line(fn):
    decorated = runmat.jit(fn)
    for values in ("calm", "calm", "special", "calm", "special"):
        seen = []
        for each in (fn, decorated):
            x = special(None)[0] if values == "special" else np.arange(1.0, 10.0)
            seen.append(observe_raising(each, x))
        compare(*seen)


def observe_raising(fn, x):
    def call(*args):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return fn(*args)

    return observe(call, (x,), {})


def test_a_filter_that_raises_comes_after_replays_without_it():
    def fn(x):
        x += 1
        y = float(x.sum())
        z = np.log(x - 1)
        x += y
        return z

    decorated = runmat.jit(fn)
    for mode in ("plain", "plain", "raising", "plain", "raising"):
        seen = []
        for each in (fn, decorated):
            x = np.array([0.0, 1.0, 2.0])
            seen.append(observe_raising(each, x) if mode == "raising" else observe(each, (x,), {}))
        compare(*seen)


def test_a_warning_is_shown_once_by_the_default_filter():
    def fn(x):
        return np.log(x)

    decorated = runmat.jit(fn)
    counts = []
    for each in (fn, decorated):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            for _ in range(3):
                each(np.zeros(2))
        counts.append(len(caught))
    assert counts[0] == counts[1] == 1


def test_warnings_of_a_helper_in_another_module():
    text = """
import types
other = types.ModuleType("other")
exec(compile("def log(np, x):\\n    return np.log(x)", "<other>", "exec"), vars(other))
def change(number): pass
def f(x):
    return other.log(np, x)
"""
    check_module(text, special)


def asks_for_its_caller(x):
    warnings.warn("here", UserWarning, stacklevel=1)
    warnings.warn("the caller", DeprecationWarning, stacklevel=2)
    warnings.warn("its caller", DeprecationWarning, stacklevel=3)
    CALLS.append(x.size)
    return x


CALLS = []


def through(function, x):
    return function(x)


@pytest.mark.parametrize("kind", ["recorded, then let through", "switched off", "no array of ours"])
def test_warnings_of_plain_calls_belong_to_the_line_that_they_ask_for(kind):
    decorated = runmat.jit(asks_for_its_caller)
    x = np.ones(3, "M8[s]") if kind == "no array of ours" else np.ones(3)
    for _ in range(20):
        expected = observe(through, (asks_for_its_caller, x), {})
        with runmat.disable() if kind == "switched off" else contextlib.nullcontext():
            found = observe(through, (decorated, x), {})
        assert found.warned == expected.warned
        assert len({line for *_, line in found.warned}) == 3


@pytest.mark.parametrize("dtype", ["d", "f", "i", "?", "D", "O"])
def test_warnings_of_calls_beside_those_let_through_belong_to_the_line_that_they_ask_for(dtype):
    """Another kind of call, when calls of the first one are let through."""
    decorated = runmat.jit(asks_for_its_caller)
    for _ in range(20):
        observe(through, (decorated, np.ones(3)), {})
    assert decorated._captured[1].bailout.kinds
    for _ in range(20):
        x = np.ones((2, 3), dtype)
        expected = observe(through, (asks_for_its_caller, x), {})
        assert observe(through, (decorated, x), {}).warned == expected.warned


@pytest.mark.parametrize("size", [0, 3])
@pytest.mark.parametrize(
    "fn",
    [
        lambda x: np.zeros(0) * np.log(x.sum() * 0),
        lambda x: (x * np.log(x.sum() * 0)).sum(),
        lambda x: (x[:0] + 1) / (x.sum() * 0 / (x.sum() * 0)),
        lambda x: (np.zeros((2, 0)) * np.sqrt(-1 - x.sum())).sum(axis=1),
    ],
)
def test_a_scalar_that_only_empty_arrays_read_warns(fn, size):
    check(fn, lambda _rng: (np.ones(size),))


FALSE_ALARMS = """import sys
import warnings

import numpy as np

from runmat_jit import jit


def descend(weights, target=10.0, step=0.002):
    x = np.full(weights.shape[1], 0.5, weights.dtype)
    for _ in range(15):
        gradient = 2 * weights.T @ (weights @ x - target)
        np.clip(x - step * gradient, 0, 1, out=x)
    return x


def address():
    return np.empty(200).ctypes.data & 0x7FFFFFFF


decorate = {"plain": lambda fn: fn, "decorated": jit}
fn, held = decorate[sys.argv[1]](descend), []
for _ in range(100_000):
    if 0x7F800000 < address() < 0x7FC00000:  # as a float32: a NaN that signals
        break
    held.append(np.empty(120_000, np.uint8))  # malloc's heap grows to other addresses
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(10):
        result = fn(np.arange(1, 16, dtype=np.float32).reshape(3, 5))
assert np.isfinite(result).all()
print(len(caught))
for message in {str(warning.message) for warning in caught}:
    print(message)
"""


@pytest.mark.slow
def test_false_alarms_about_products_are_those_of_numpys_library(tmp_path):
    """NumPy may warn of memory that OpenBLAS has not written: see docs/design/0004."""
    script = tmp_path / "alarms.py"
    script.write_text(FALSE_ALARMS, encoding="utf-8")
    plain, decorated = (
        subprocess.run(
            [sys.executable, script, each], check=True, capture_output=True, text=True
        ).stdout.splitlines()
        for each in ("plain", "decorated")
    )
    assert plain in (["0"], [plain[0], "invalid value encountered in matmul"])
    assert decorated in (["0"], [decorated[0], *plain[1:]])


def test_a_call_that_writes_and_then_warns_writes_once_where_warnings_are_errors():
    def fn(x, places):
        np.add.at(x, places, 1e308)
        return x / 2

    def observed(function):
        args = np.array([1e308, 1.0, 3.0]), np.array([0, 1])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning) as caught:
                function(*args)
        return str(caught.value), args[0].tolist()

    decorated = runmat.jit(fn)
    for _ in range(2):
        decorated(np.ones(3), np.array([0, 1]))
    assert decorated.cache_info().hits == 1
    assert observed(decorated) == observed(fn)
    assert observed(fn)[1] == [np.inf, 1e308, 3.0]


# -- results of np.broadcast_arrays ----------------------------------------------------------------
def stored(x):
    a, _ = np.broadcast_arrays(x, np.zeros((2, 3)))
    a[0] = 5
    return a


def updated(x):
    a, _ = np.broadcast_arrays(x, np.zeros((2, 3)))
    a += 1
    return a


def given_as_out(x):
    a, _ = np.broadcast_arrays(x, np.zeros((2, 3)))
    return np.add(a, 1, out=a)


def through_a_view(x):
    row = np.broadcast_arrays(x, np.zeros((2, 3)))[0][0]
    row[1] = 2
    return row


def asked(x):
    return np.broadcast_arrays(x, np.zeros((2, 3)))[0].flags.writeable


def only_read(x):
    return np.broadcast_arrays(x, np.zeros((2, 3)))[0] + 1


@pytest.mark.parametrize(
    "program", [stored, updated, given_as_out, through_a_view, asked, only_read]
)
def test_a_write_to_a_broadcast_array_warns_each_time_at_its_line(program):
    decorated, seen = runmat.jit(program), []
    for fn in (program, *[decorated] * 7):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = fn(np.arange(3.0))
        seen.append(
            (np.asarray(result).tolist(), [(w.category, w.filename, w.lineno) for w in caught])
        )
    assert seen == seen[:1] * 8
    assert (program is only_read) == (not seen[0][1])


# -- functions of several steps --------------------------------------------------------------------
@pytest.mark.parametrize("function", [np.std, np.var, np.mean])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_each_step_of_a_function_of_numpys_warns_in_its_turn(function, axis):
    """Which of the steps warn depends on the data, in calls that are otherwise alike."""
    decorated = runmat.jit(lambda x: function(x, axis=axis))
    rows = [1.0, 2.0, np.inf], [1.0, -np.inf, np.inf], [np.nan, 1.0, 2.0], [1e308, 1e308, 1.0]
    for first in (*rows, *rows):
        seen = []
        for fn in (lambda x: function(x, axis=axis), decorated):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fn(np.array([first, [1.0, 2.0, 3.0]]))
            seen.append([str(warning.message) for warning in caught])
        assert seen[0] == seen[1], first
