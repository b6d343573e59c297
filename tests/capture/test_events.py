"""Floating-point events: category, text, file and line; the oracle is the undecorated function.

Of each case: the warnings, exceptions, calls and printed lines of four calls, one after another,
under states of errors and filters, those that count by module, by line and by location included.
"""

import contextlib
import io
import linecache
import operator
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe
from tests.capture.test_messages import told
from tests.conftest import PROFILE

NUMBERS = {
    "float64": [1e308, 2.0, -3.0, 0.0, np.inf, np.nan, 1e-308, -np.inf],
    "float32": [3e38, 2.0, -3.0, 0.0, np.inf, np.nan, 1e-38, -np.inf],
    "float16": [6e4, 2.0, -3.0, 0.0, np.inf, np.nan, 6e-5, -np.inf],
    "int32": [2**31 - 1, -(2**31), 0, 3, -1, 7, 0, 100000],
    "int64": [2**63 - 1, -(2**63), 0, 3, -1, 7, 0, 100000],
    "uint8": [255, 0, 3, 200, 7, 0, 1, 2],
    "complex128": [1e308 + 1e308j, 2.0, -3.0, 0.0, complex(np.inf, 0), 1j, 1e-308, -1j],
}
FORMS = {
    "array": lambda values: values,
    "without axes": lambda values: values[:1].reshape(()),
    "zero without axes": lambda values: np.zeros((), values.dtype),
    "scalar": lambda values: values[0],
    "zero": lambda values: values.dtype.type(0),
    "negative": lambda values: values[2],
}
OPERATORS = (
    *("a + a", "a - -a", "a * a", "a / a", "a // a", "a % a", "a ** a", "a @ a", "-a", "abs(a)"),
    *("a / 0", "a // 0", "a % 0", "1 / a", "0 / a", "a * 2", "a * 1e300", "divmod(a, 0)"),
    *("a**2", "a**2.0", "a**-1", "a**0.5", "a**3", "a**-2", "2**a", "2.0**a", "pow(a, 2)"),
)
UNARY = "square sqrt log exp reciprocal log1p arcsin sin cosh tan expm1 log2 log10 arctanh exp2"
BINARY = "multiply add divide floor_divide remainder fmod hypot logaddexp power float_power arctan2"
METHODS = "sum mean prod var std cumsum cumprod"
CALLS_OF_NUMPY = (
    *(f"np.{name}(a)" for name in UNARY.split()),
    *(f"np.{name}(a, a)" for name in BINARY.split()),
    *(f"a.{name}()" for name in METHODS.split()),
    *(f"np.{name}(a)" for name in METHODS.split()),
    *(f"np.multiply.{name}(np.atleast_1d(a))" for name in ("reduce", "accumulate")),
    *("np.multiply.reduceat(np.atleast_1d(a), [0])", "np.add.outer(a, a)", "np.dot(a, a)"),
    *("a.astype('f4')", "a.astype('i4')", "np.astype(np.asarray(a), np.float32)", "np.outer(a, a)"),
    *("np.round(a, 2)", "a.round(-3)", "np.median(a)", "np.average(a)", "np.linalg.norm(a)"),
    *("np.full(3, a, 'f4')", "np.diff(np.atleast_1d(a))", "np.vdot(a, a)", "np.nansum(a)"),
)
EXPRESSIONS = (*OPERATORS, *CALLS_OF_NUMPY)
STATES = {
    "raise": {"all": "raise"},
    "call": {"all": "call"},
    "log": {"all": "log"},
    "print": {"all": "print"},
    "ignore": {"all": "ignore"},
    "underflow, too": {"all": "warn"},
    "some raise": {"divide": "raise"},
}
ALWAYS = ("always", {})
FILTERS = {
    "error": [("error", {})],
    "default": [("default", {})],
    "once": [("once", {})],
    "module": [("module", {})],
    "ignore": [("ignore", {})],
    "the program's raise": [ALWAYS, ("error", {"module": "program"})],
    "the program's ignored": [ALWAYS, ("ignore", {"module": "program"})],
    "NumPy's raise": [ALWAYS, ("error", {"module": r"numpy\..*"})],
    "NumPy's ignored": [ALWAYS, ("ignore", {"module": r"numpy\..*"})],
    "a line": [ALWAYS, ("ignore", {"lineno": 4})],
    "a text": [ALWAYS, ("ignore", {"message": "overflow"})],
    "no name": [ALWAYS, ("ignore", {"module": "<string>"})],
}
CIRCUMSTANCES = [
    ("program", {}, [ALWAYS]),
    *(("program", state, [ALWAYS]) for state in STATES.values()),
    *(("program", {}, filters) for filters in FILTERS.values()),
    *((None, {}, filters) for filters in ([ALWAYS], FILTERS["default"], FILTERS["no name"])),
    ("program", STATES["raise"], FILTERS["error"]),
    ("program", STATES["underflow, too"], FILTERS["default"]),
]
"""Name of the module, state of errors, filters."""
CALLS = 4
STEP = 29 if PROFILE == "full" else 149
"""Of how many cases one is taken."""

PROGRAMS = {
    "lines of one statement": """
def f(a):
    x = (np.log(a)
         + np.sqrt(
             a - 1)
         / 0)
    return (x
            .sum()
            + a
            .prod()), np.add(
        a * 1e308,
        np.exp(
            a),
    ).sum(
        axis=0
    )
""",
    "one value, spelled in several ways": """
def f(a):
    return a.prod(), np.prod(a), np.multiply.reduce(a), a.sum(), np.sum(a), a.mean(), np.mean(a)
""",
    "powers": """
def f(a):
    b = a.copy()
    b **= 2
    b[0] **= 2
    return (
        b, a**2, np.square(a), np.power(a, 2), a[0]**2, pow(a[0], 2), a * a, a[0] * a[0],
        a**0.5, np.sqrt(a), a**-1, 1 / a, a[0] ** a[1], a**np.float64(2), a**np.array([2.0]),
    )
""",
    "casts": """
def f(a):
    b = np.ones(a.shape, "f4")
    b += a
    b[:] = a
    b[0] = a[0]
    np.add(a, a, out=b)
    np.round(a, out=b)
    a.clip(None, 1e300, out=b, casting="same_kind")
    return b, np.full(3, a[0], "f4"), np.full_like(b, a[0]), a.astype("f4"), np.astype(a, "f4")
""".replace('np.astype(a, "f4")', "np.astype(a, np.float32)"),
    "constants": """
def f(a):
    x = np.outer(1e200, 1e200), np.dot(1e200, 1e200), np.mean([]), np.std([1.0], ddof=1)
    y = np.linspace(0, 1e308, 3) * 10, np.polyfit([1.0, 1.0], [1.0, 1.0], 1), np.exp(1000.0)
    return x, y, a * 2, np.int8(100) + np.int8(100), np.float64(1e308) * 10
""",
    "empty": """
def f(a):
    e = a[:0]
    return e.mean(), np.mean(e), e.var(), np.var(e), np.nanmean(e), np.median(e), a.var(ddof=5)
""",
    "deprecated": """
def f(a):
    o = np.zeros(a.shape)
    for _ in range(2):
        np.maximum(a, a, o)
        np.minimum(
            a, a, o)
    o.shape = (1, o.size)
    np.add(a, a, o[0])
    return o * 2
""",
    "caught": """
def f(a):
    told = []
    with np.errstate(all="raise"):
        for g in (a.prod, lambda: np.prod(a), lambda: a**2, lambda: a[0] ** 2, lambda: a / 0):
            try:
                g()
            except FloatingPointError as error:
                told.append(str(error))
    with np.errstate(all="call", call=lambda *event: told.append(event)):
        a * a, a.prod(), a[0] ** 2
    return told
""",
}


class Log:
    def __init__(self):
        self.seen = []

    def __call__(self, kind, flag):
        self.seen.append((kind, flag))

    def write(self, text):
        self.seen.append(text)


def observed(fn, namespace, make, state, filters):
    """What each of some calls reports; no warning has been given before."""
    namespace.pop("__warningregistry__", None)
    warnings.onceregistry.clear()
    seen = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        for action, how in filters:
            warnings.filterwarnings(action, **how)
        for _ in range(CALLS):
            del caught[:]
            log, error, printed = Log(), None, io.StringIO()
            to = {"call": log} if {"call", "log"} & set(state.values()) else {}
            with np.errstate(**state, **to), contextlib.redirect_stdout(printed):
                try:
                    fn(make())
                except Exception as raised:
                    error = told(raised)
            warned = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
            seen.append((warned, error and error[:2], log.seen, printed.getvalue()))
    return seen


def differences(text, make, circumstances):
    for name, state, filters in circumstances:
        namespace = module(text)
        if name is None:
            del namespace["__name__"]
        fn = namespace["f"]
        expected = observed(fn, namespace, make, state, filters)
        found = observed(runmat.jit(fn), namespace, make, state, filters)
        if found != expected:
            yield name, state, filters, found, expected


CASES = [
    (expression, dtype, form, circumstance)
    for expression in EXPRESSIONS
    for dtype in NUMBERS
    for form in FORMS
    for circumstance in CIRCUMSTANCES
]


@pytest.mark.parametrize("share", range(8))
def test_events_are_numpys_at_its_lines(share):
    """The full profile takes all cases, 89,250; the default one in 149."""
    for expression, dtype, form, circumstance in CASES[share * STEP :: 8 * STEP]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values = FORMS[form](np.array(NUMBERS[dtype], dtype))
        text = f"\n\ndef f(a):\n    return {expression}\n"
        found = list(differences(text, lambda values=values: values.copy(), [circumstance]))
        assert not found, (expression, dtype, form, found)


@pytest.mark.parametrize("name", PROGRAMS)
def test_events_of_programs_are_numpys_at_its_lines(name):
    values = np.array([1.7e308, 1.7e308, -3.0, 0.0])
    chosen = CIRCUMSTANCES[:: 2 if PROFILE == "full" else 4]
    assert not list(differences(PROGRAMS[name], values.copy, chosen))


def test_a_trial_has_no_line_warn_again():
    """A line that has warned under the default filter is silent while others are recorded."""
    namespace = module("def f(a):\n    return np.log(a)\ndef g(a):\n    return a + np.ones(3)\n")
    plain = namespace["f"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(2):
            plain(np.zeros(3))
            runmat.jit(namespace["g"])(np.zeros(3))
            plain(np.zeros(3))
    assert len(caught) == 1


def logarithm_and_sum(x):
    return np.log(x) * 2 + x.sum(), np.sqrt(x).max()


@pytest.mark.parametrize("fn", [logarithm_and_sum, lambda x: 1 / x + np.where(x > 1, x, -x)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_lengths_never_seen_with_data_of_all_kinds(fn, dtype):
    """Programs for all shapes begin to tell events from data after some alarms."""
    decorated, rng = runmat.jit(fn), np.random.default_rng(5)
    lengths = iter(rng.permutation(np.arange(2, 400)))
    for kind in ("usual", "nan", "nan", "nan", "usual", "zero", "nan", "zero", "inf", "usual"):
        for length in (next(lengths) for _ in range(6)):
            x = (rng.random(length) + 0.1).astype(dtype)
            if kind != "usual":
                x[rng.integers(length)] = {"nan": np.nan, "zero": 0, "inf": np.inf}[kind]
            compare(observe(fn, (x,), {}), observe(decorated, (x,), {}))


def test_nan_at_lengths_never_seen_asks_numpy_a_few_times():
    def fn(x):
        return np.exp(x) * 2 + x

    decorated, rng = runmat.jit(fn), np.random.default_rng(6)
    for length in rng.permutation(np.arange(2, 400))[:200]:
        x = rng.random(length)
        x[0] = np.nan
        decorated(x)
    before = runmat.telemetry.snapshot()
    for length in range(400, 460):
        x = rng.random(length)
        x[0] = np.nan
        decorated(x)
    after = runmat.telemetry.snapshot()
    assert after["events_checked"] == before["events_checked"]
    assert after["programs_built"] == before["programs_built"]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_differences_of_nothing_hide_no_event_of_their_operand(n):
    def fn(x):
        y = np.arccos(x)
        return np.diff(y - y, n=n)

    decorated = runmat.jit(fn)
    for length in (1, 2, 3, 4, 2):
        x = np.full(length, 2.0)
        compare(observe(fn, (x,), {}), observe(decorated, (x,), {}))


@pytest.mark.parametrize("spelled", ["x ** k", "x.__pow__(k)", "operator.pow(x, k)", "pow(x, k)"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_an_exponent_that_is_no_constant_has_the_warning_of_its_value(spelled, dtype):
    """NumPy calls reciprocal, sqrt and square for three exponents of ``**``."""
    namespace = {"operator": operator}
    text = f"def fn(x, k):\n    return {spelled}\n"
    file = f"<power {spelled}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(text, file, "exec"), namespace)
    decorated = runmat.jit(namespace["fn"])
    x = np.array([0, -1, 9 if dtype == "i8" else 1e38]).astype(dtype)
    for k in (-1, -1, 0.5, 2, 3, 2.0, -1.0, np.float64(0.5), 0.25, 2, -1, 0.5, 0, 1, True):
        compare(observe(namespace["fn"], (x, k), {}), observe(decorated, (x, k), {}))


@pytest.mark.parametrize("operate", [operator.truediv, operator.floordiv, operator.mod])
def test_numbers_of_two_classes_warn_as_numpys_do(operate):
    """Where one class holds the other's, it is arithmetic of scalars, which says so."""

    def fn(x, y):
        return operate(x[0] + x[1], y[0] - y[1])

    decorated = runmat.jit(fn)
    dtypes = [*NUMBERS, "int8", "int16", "uint16", "uint32", "uint64", "complex64", "bool"]
    for one in dtypes:
        for other in dtypes:
            args = np.ones(2, one), np.zeros(2, other)
            compare(observe(fn, args, {}), observe(decorated, args, {}))
