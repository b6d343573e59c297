"""Loops over whole arrays. Oracle: the undecorated functions, in everything that a caller sees.

Results and arguments are compared to the bit, with classes, dtypes, strides, flags, who shares
memory with whom, warnings and exceptions with their lines. Where functions are rounded otherwise
than NumPy's, there is a tolerance. Sums are of multiples of 1/4, which no order of adding rounds.
"""

import itertools
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks.programs.array_loops import PROGRAMS
from tests.capture.behavior import compare, module, observe
from tests.capture.plain_hooks import function_from

pytestmark = pytest.mark.sampled(16)

EXTENTS = (2, 7, 8, 9, 16, 17, 63, 64, 65, 1, 0)
"""Short ones last: what they leave undone counts as a loop that left."""
BACKWARDS = "a[::-1]", "a[:, ::-1]", "a[::-1, ::-1]"
OTHER_ORDERS = "np.asfortranarray(a)", "a.T", "a[::2, ::2]", *BACKWARDS


@pytest.fixture
def check(natively):
    """Compares calls on new data, and asks how often loops ran natively in each of them.

    ``times=None``: as the loop likes.
    """

    def compare_calls(fn, make, *, times=1, exact=True, calls=3):
        decorated = runmat.jit(fn)
        for seed in range(calls):
            expected = observe(fn, make(np.random.default_rng(seed)), {})
            found = observe(decorated, make(np.random.default_rng(seed)), {})
            compare(expected, found, exact=exact)
        ran = natively()
        assert times is None or ran == calls * times, f"{ran} native runs"

    return compare_calls


def values(rng, shape, dtype="d"):
    """Small multiples of 1/4, or integers."""
    drawn = rng.integers(-12, 13, shape)
    return (drawn * 0.25).astype(dtype) if dtype in "fd" else drawn.astype(dtype)


def arrays(*shapes, dtype="d", give=()):
    """Makes arrays of these shapes, and the same other arguments in each call."""

    def make(rng):
        return *(values(rng, shape, dtype) for shape in shapes), *give

    return make


def data(*numbers, dtype="d"):
    """Makes a vector of these numbers, or of what they are in its dtype."""
    with np.errstate(all="ignore"):
        made = np.array(numbers).astype(dtype)
    return lambda _rng: (made.copy(),)


def program(body, parameters="x"):
    """The function of these statements."""
    lines = "\n    ".join(body.strip().split("\n"))
    return function_from(f"def f({parameters}):\n    {lines}\n", np=np)


def in_turns(statement, result="x", parameters="x", turns=3):
    """The function that runs some statements in each turn of a loop."""
    lines = "\n    ".join(statement.split("\n"))
    return program(f"for i in range({turns}):\n    {lines}\nreturn {result}", parameters)


# -- programs of textbooks -------------------------------------------------------------------------
TAPS = 16
OF_TWO_DTYPES = "kalman", "least_mean_squares", "gradient_descent"
"""Programs that make float64 arrays themselves, and multiply them by what they are given."""


def narrowed(given):
    """Arrays of float64 as float32."""
    return tuple(x.astype("f") if isinstance(x, np.ndarray) else x for x in given)


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("each", PROGRAMS, ids=lambda each: each.fn.__name__)
def test_programs_of_the_benchmark(each, dtype, check):
    for size in (TAPS + 5, TAPS + 20) if each.fn.__name__ == "least_mean_squares" else (5, 20):

        def make(rng, size=size):
            given = each.inputs(rng, size)
            return given if dtype == "d" else narrowed(given)

        name = each.fn.__name__
        exact = name != "power_iteration"  # after its loop, a kernel computes a small product
        runs = None if name == "gray_scott" else dtype == "d" or name not in OF_TWO_DTYPES
        check(each.fn, make, times=runs, exact=exact)  # gray_scott: its views overlap


def test_float32_stays_float32(check):
    """A filter and a descent as in the benchmark, all of one dtype."""

    def fn(x, wanted, w, rate):
        v = np.zeros_like(w)
        for t in range(len(w), len(x)):
            window = x[t - len(w) : t]
            error = wanted[t] - w @ window
            v = np.float32(0.5) * v + rate * error * window / (window @ window + np.float32(0.25))
            w = w + v
        return w, v, error

    check(fn, arrays(30, 30, 4, dtype="f", give=(np.float32(0.5),)))


# -- parts that overlap ----------------------------------------------------------------------------
@pytest.mark.parametrize(
    "statement",
    [
        "x[1:] = x[:-1]",
        "x[:-1] = x[1:]",
        "x[1:-1] += x[2:]",
        "x[1:-1] -= 0.25 * (x[2:] + x[:-2])",
        "x[::-1] = x",
        "x[:] = x[::-1]",
        "x[...] = x[::-1] * 0.5 + x",
        "x[::2] = x[1::2] + 1",
        "x[2:] = x[:-2] + x[1:-1]",
        "x[i :: i + 1] = i",
        "x[:: i + 1] = x[:: i + 1] * 0.5 + 1",
        "x[1 :: i + 1] = x[: 7 : i + 1] + 1",
        "x[: 7 : i + 1] -= x[1 :: i + 1]",
        "x[i + 1 :: i + 2] += x[0]",
        "y = x[:: i + 2]\nx[:: i + 1] = 1\nx[0] += y.sum()",
        "y = x[:: i + 2]\ny[1:] = y[:-1]",
        "x += x[::-1]",
        "x -= x[0]",
        "x[1:] *= x[0]",
        "x /= 1 + abs(x)",
        "x[0], x[1] = x[1], x[0]",
        "y = x[1:]\ny[1:] = y[:-1]",
        "y = x[1:]\nx[:-1] += y\ny += 1",
        "y = x\ny[0] += 1\nx[1] = y[0]",
        "y = x[2:4]\nx[i] = 7\nx[4:6] = y",
    ],
)
def test_parts_of_a_vector(statement, check):
    check(in_turns(statement), arrays(8))


@pytest.mark.parametrize(
    "statement",
    [
        "a[1:] = a[:-1]",
        "a[:, 1:] = a[:, :-1]",
        "a[:] = a.T",
        "a += a.T",
        "a += a[0]",
        "a -= a[:, 0]",
        "a[0] = a[:, 0]",
        "a[:, 0] = a[0]",
        "a[...] = a[::-1] + a[:, ::-1]",
        "a[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])",
        "a[i], a[i + 1] = a[i + 1], a[i]",
        "a[i, 1:] -= a[i, :-1]",
        "a[i][1:] = a[i][:-1]",
        "a.T[i] = a[i]",
        "a[..., -1] += a[:, i]",
        "row = a[i]\nrow += a[-1]\na[-1] = row",
        "for row in a:\n    row -= a[1]",
        "a[i] = i",
    ],
)
def test_parts_of_a_matrix(statement, check):
    check(in_turns(statement, "a", "a"), arrays((5, 5)))


def test_results_and_copies_of_parts(check):
    def fn(x, n):
        for i in range(n):
            b = x.copy()
            x[1:] = b[:-1]
            x[0] = b[-1]
            b[i] = 5
        return x, b

    check(fn, arrays(7, give=(4,)))


# -- names that share arrays -----------------------------------------------------------------------
def swapped(u, v, n):
    for _ in range(n):
        u, v = v, u + v
    return u, v


def kept(u, v, n):
    old = u
    for _ in range(n):
        old, u = u, 0.5 * (u + v)
    return old, u


def before_and_now(u, v, n):
    before = now = u
    for _ in range(n):
        after = 2 * now - before + v
        before = now
        now = after
    return before, now


@pytest.mark.parametrize("fn", [swapped, kept, before_and_now])
@pytest.mark.parametrize(("turns", "times"), [(0, 0), (1, 0), (2, 1), (5, 1), (600, 1)])
def test_names_take_turns(fn, turns, times, check):
    """After a turn or none, names may hold the arguments themselves: those runs are Python's."""
    check(fn, arrays(9, 9, give=(turns,)), times=times)


def test_names_that_only_swap_arguments(check):
    def fn(u, v, n):
        for _ in range(n):
            u, v = v, u
        return u, v

    for turns in (0, 1, 2, 5):
        check(fn, arrays(9, 9, give=(turns,)), times=0)


def test_an_argument_until_some_turn(check):
    """A name holds the argument, or a new array: which, the data decide."""

    def fn(x, limit):
        u = x
        for i in range(4):
            if x[i] > limit:
                u = u * 0.5 + x
        return u, x

    check(fn, arrays(9, give=(-4.0,)))
    check(fn, arrays(9, give=(4.0,)), times=0)


def test_a_name_that_is_changed_in_place_is_the_argument(check):
    def fn(x, y, n):
        b = x
        for _ in range(n):
            x += y
            b[0] = x[1]
            y *= 0.5
        return b, x

    check(fn, arrays(9, 9, give=(3,)))
    check(fn, arrays(9, 9, give=(0,)), times=0)


def test_arrays_that_the_loop_makes_are_shared_likewise(check):
    def fn(x, n):
        for i in range(n):
            u = x + i
            v = u
            v[0] = 5.0
            w = u
            u = u * 2
            w += u[1]
        return u, v, w

    check(fn, arrays(9, give=(3,)))


def test_a_copy_does_not_see_stores(check):
    def fn(x):
        c = x.copy()
        for i in range(3):
            b = c
            c[i] += 1
            seen = b[i]
            c = c * 2
        return b, c, seen

    check(fn, arrays(9))


def test_memory_is_reused_for_arrays_that_nobody_holds(check):
    """Three arrays of one shape go round, for some thousand turns."""

    def fn(x, y, n):
        u, v, w, total = x, x * 2, x + y, 0.0
        for i in range(n):
            old = u
            u = 0.5 * (u + v)
            if i % 3 == 0:
                v, w = w, old
            else:
                w = np.minimum(u * 1.01, 5.0)
            total = total + u[i % 5]
            y[i % 5] = total * 1e-3
        return u, v, w, old, total, y

    check(fn, arrays(5, 5, give=(5000,)))


@pytest.mark.parametrize(
    ("views", "times"),
    [("x, x", 1), ("x[:4], x[4:8]", 1), ("x[1:], x[:-1]", 0), ("x, x[::-1]", 0), ("x, x[:]", 0)],
)
def test_arguments_that_overlap(views, times, check):
    """One array as two arguments is one array; parts that overlap are left to Python."""
    fn = in_turns("x += y\nu = x + y\ny[0] = u[1]", "x, y, u", "x, y")
    of = function_from(f"def f(x):\n    return {views}\n")
    check(fn, lambda rng: of(values(rng, 9)), times=times)


def test_arguments_that_overlap_and_are_only_read(check):
    def fn(x, y):
        for _ in range(3):
            u = x * y
            x = u + y
        return x, u

    def make(rng):
        drawn = values(rng, 9)
        return drawn[1:], drawn[:-1]

    check(fn, make)


def test_views_from_before_the_loop_see_its_stores(check):
    """Parts and results of what was computed before, also of what is computed by our kernels."""

    def fn(x):
        y = x + 1
        part, z = x[1:], x * 2
        inner = z[2:]
        early = z + inner[0]
        for _ in range(4):
            x[...] = x * 0.5
            z[2:] += 1.0
        return y, part, early, inner, z, z[:3] + part[0]

    check(fn, arrays(9), calls=6)


# -- extents ---------------------------------------------------------------------------------------
def check_extents(fn, makes, natively, at_least):
    """Compare calls of one function on arrays of several extents: to the bit where it ran natively.

    Where it did not, kernels may have computed small products.
    """
    decorated, ran = runmat.jit(fn), 0
    for seed, make in enumerate(makes):
        expected = observe(fn, make(np.random.default_rng(seed)), {})
        found = observe(decorated, make(np.random.default_rng(seed)), {})
        here = natively()
        compare(expected, found, exact=here > 0)
        ran += here
    assert at_least <= ran <= len(makes), f"{ran} native runs"


VECTORS = {
    "elementwise": "for i in range(3):\n    u = x + y\n    x[...] = u * 0.5\nreturn u, x",
    "neighbors": "for i in range(3):\n    u = x[1:] * y[:-1]\n    x[1:] = x[:-1]\nreturn u, x",
    "sums": "s = 0.0\nfor i in range(3):\n    s = s + x.sum() * y.max()\nreturn s",
    "products": "for i in range(3):\n    s = x @ y\n    x += s * y\nreturn s, x",
    "rolled": "for i in range(3):\n    u = np.roll(x, i)\n    x -= u[::-1]\nreturn x",
    "places": "for i in range(3):\n    s = x.argmax() - x.argmin()\n    x[s] = i\nreturn x",
    "tails": "for i in range(len(x)):\n    x[i:] -= x[i] * y[i:]\nreturn x",
    "heads": "s = 0\nfor i in range(len(x)):\n    s = s + x[i:].max() + y[:i].sum()\nreturn s",
    "numbers": "s = 0\nfor a, b in zip(x, y):\n    s = s + a * b\n    y += s\nreturn s, y",
}


@pytest.mark.parametrize("body", VECTORS.values(), ids=VECTORS)
def test_vectors_of_all_extents(body, natively):
    """One function for all of them; where there is one element, or none, Python may run it."""
    makes = [arrays(extent, extent) for extent in EXTENTS]
    check_extents(program(body, "x, y"), makes, natively, at_least=len(EXTENTS) - 2)


@pytest.mark.parametrize(
    "statement",
    [
        "x[i:] += 1.0\ny[:i] *= 2",
        "x[-i:i] += 3.0\ny[i : i + 3 : 2] += i",
        "x[: i - 4] = i\ny[i - 4 :] = -y[i - 4 :]",
        "x[i - 80 : i] += 1\nx[-i:] *= 0.5",
        "w = x[i - 1 : i + 2]\nw += len(w)\ny[i:] += w.sum()",
        "y += (x[i:] * 2).sum() + np.any(x[:-i] > 2)",
    ],
)
def test_slices_that_are_cut_off(statement, natively):
    """Bounds beyond the ends, from the end, and such that nothing is left."""
    fn = program(
        "for i in range(-9, 70):\n    " + statement.replace("\n", "\n    ") + "\nreturn x, y",
        "x, y",
    )
    makes = [arrays(extent, extent) for extent in EXTENTS]
    check_extents(fn, makes, natively, at_least=len(EXTENTS) - 1)


MATRICES = {
    "products": "u = a @ x\nv = y @ a\na[0] = x\na[:, 0] = v @ x + u",
    "products of matrices": "b = a @ a.T\na[...] = b @ a * 0.125\na[:, 1:] = a[:, :-1]",
    "inner products": "a += np.inner(x, x) - np.matvec(a, x)[:, None]",
    "outer products": "a += y[:, None] * x\nb = np.outer(y, x)\na -= b * 0.5",
    "stacks": "b = np.stack([a, a * 0.5])\na[...] = b[1] - b[0]",
    "rolled": "a[:] = np.roll(a, i, axis=1) + np.roll(a, -1, axis=0)",
    "extremes": "a -= a.max() - np.min(a)\na *= np.all(a < 0)",
    "sums of rows": "y += a.sum(axis=1)\na[:, 0] = y",
    "statistics of rows": "y += ((a - x) ** 2).sum(axis=1) + a.mean(axis=1)\n"
    "a[:, 0] = a.max(axis=1) * 0.5 - y",
    "rows": "for j in range(len(a)):\n    a[j] -= a[j, 0] * a[j - 1]",
    "parts": "for j, row in enumerate(a):\n    y[j] = row @ x\n    row += y[j]",
    "columns": "for column in a.T:\n    column *= column.max()",
}


@pytest.mark.parametrize("statement", MATRICES.values(), ids=MATRICES)
@pytest.mark.parametrize("wider", [0, 1, -1])
def test_matrices_of_all_extents(statement, wider, natively):
    pairs = [(extent, max(0, extent + wider)) for extent in EXTENTS if extent < 20]
    makes = [arrays((n, m), m, n) for n, m in pairs]
    usual = sum(n > 1 and m > 1 for n, m in pairs)
    check_extents(in_turns(statement, "a, y", "a, x, y"), makes, natively, at_least=usual)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions_of_rows(name, natively):
    pairs = [(n, m) for n in (2, 9, 1) for m in (1, 2, 7, 64)]
    fn = in_turns(f"y = a.{name}(axis=1)\na += i", "y, a", "a")
    check_extents(fn, [arrays(pair) for pair in pairs], natively, at_least=6)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_reductions_of_columns(name, natively):
    """Columns of one part, of several, and of parts of parts; of few elements some are recorded."""
    pairs = [(n, m) for m in (2, 9, 64) for n in (1, 2, 7, 16, 17, 300, 5000)]
    fn = in_turns(f"y = a.{name}(axis=0)\na += i", "y, a", "a")
    check_extents(fn, [arrays(pair) for pair in pairs], natively, at_least=len(pairs) - 6)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("shape", "turns", "is_native"),
    [
        ((3, 300), 20, False),  # kernels have several turns in registers
        ((9, 300), 20, True),
        ((3, 30), 20, True),  # a turn takes no longer than a launch
        ((3, 300), 900, True),  # recording them takes longer
    ],
)
def test_turns_that_reduce_a_few_elements_are_recorded(shape, turns, is_native, natively):
    text = (
        f"def f(x):\n    for _ in range({turns}):\n"
        "        x = x / np.sqrt((x * x).sum(axis=0)) + 0.5\n    return x\n"
    )
    fn, x = function_from(text, np=np), np.random.default_rng(0).random(shape)
    compare(observe(fn, (x,), {}), observe(runmat.jit(fn), (x,), {}), exact=False)
    assert (natively() > 0) is is_native


def test_truth_of_columns(natively):
    pairs = [(n, m) for m in (2, 9) for n in (2, 16, 17)]
    fn = in_turns(
        "some = (a > i).any(axis=0)\nall_ = np.all(a > -i, axis=0)\ncount = (a > 0).sum(axis=0)",
        "some, all_, count",
        "a",
    )
    check_extents(fn, [arrays(pair) for pair in pairs], natively, at_least=len(pairs) - 1)


@pytest.mark.parametrize("name", ["sum", "mean", "max"])
@pytest.mark.parametrize("pair", [(0, 3), (3, 0), (0, 0), (1, 1), (3, 1)], ids=str)
def test_reductions_of_columns_without_elements(name, pair, check):
    """NumPy raises, warns, or gives the identity; Python runs what is not native."""
    check(in_turns(f"y = a.{name}(axis=0)", "y", "a"), arrays(pair), times=None)


@pytest.mark.parametrize("dtype", ["d", "f", "l", "i"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", [0, 1])
def test_positions_in_rows_and_columns(axis, name, dtype, natively):
    """Many equal elements: the first one counts."""
    pairs = [(n, m) for m in (1, 2, 9, 70) for n in (2, 7, 40)]
    body = f"a = a * 3 % 5\ny = a.{name}(axis={axis})\nz = np.{name}(a[::-1], {axis})"
    fn = in_turns(body, "y, z", "a")
    makes = [arrays(pair, dtype=dtype) for pair in pairs]
    check_extents(fn, makes, natively, at_least=len(pairs) - 3)


SPECIAL_POSITIONS = {
    "NaN": (np.nan, 1, np.nan, np.inf, np.nan),
    "NaN behind": (np.inf, 1, 2, np.nan, np.nan),
    "signed zeros": (-0.0, 0.0, -0.0, 0.0, -0.0),
    "infinities": (-np.inf, np.inf, np.inf, -np.inf, 1),
    "nothing else": (-np.inf,) * 5,
}


@pytest.mark.parametrize("numbers", SPECIAL_POSITIONS.values(), ids=SPECIAL_POSITIONS)
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_special_values(name, numbers, natively):
    """In a vector, in rows and in columns, side by side with what is ordinary."""

    def make(rng):
        a = rng.standard_normal((5, 5))
        a[2] = a[:, 1] = numbers
        return a, np.array(numbers)

    body = f"w, y, z, p = a.{name}(0), a.T.{name}(axis=0), a.{name}(axis=1), v.{name}()"
    check_extents(in_turns(body, "w, y, z, p", "a, v"), [make] * 3, natively, at_least=3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("pair", [(0, 3), (3, 0), (0, 0), (1, 1)], ids=str)
def test_positions_without_elements(axis, pair, check):
    """NumPy raises, or gives nothing."""
    check(in_turns(f"y = a.argmax(axis={axis})", "y", "a"), arrays(pair), times=None)


def test_positions_of_truth_values_are_pythons(check):
    check(in_turns("y = (a > 0).argmax(axis=1)", "y", "a"), arrays((4, 5)), times=0)


EVENTS_IN_COLUMNS = {
    "NaN before": lambda a: a.__setitem__((3, 1), np.nan),
    "an infinity before": lambda a: a.__setitem__((3, 1), np.inf),
    "infinities that cancel": lambda a: a.__setitem__((slice(0, 2), 1), (np.inf, -np.inf)),
    "an overflow": lambda a: a.__setitem__((slice(0, 2), 1), 1e308),
    "an overflow between parts": lambda a: a.__setitem__((slice(0, 40, 20), 1), 1e308),
    "beside NaN": lambda a: a.__setitem__((slice(0, 3), 1), (np.nan, 1e308, 1e308)),
}


@pytest.mark.parametrize("spoil", EVENTS_IN_COLUMNS.values(), ids=EVENTS_IN_COLUMNS)
@pytest.mark.parametrize("name", ["sum", "mean", "max"])
def test_events_in_columns(spoil, name, check):
    """Warnings are NumPy's, whether the loop leaves or has its exact form."""

    def make(rng):
        (a,) = arrays((50, 6))(rng)
        spoil(a)
        return (a,)

    check(in_turns(f"y = a.{name}(axis=0)", "y", "a"), make, times=None)


SHAPES = [
    ((9,), (1,)),
    ((4, 1), (5,)),
    ((4, 5), (5,)),
    ((4, 5), (4, 1)),
    ((4, 5), (1, 5)),
    ((4, 1), (1, 5)),
    ((2, 4, 5), (4, 5)),
    ((2, 4, 5), (4, 1)),
    ((2, 1, 5), (4, 1)),
    ((0, 5), (5,)),
    ((0, 1), (5,)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes, check):
    check(in_turns("u = x * 0.5 + y\nv = np.where(u > i, y, x)", "u", "x, y"), arrays(*shapes))


@pytest.mark.parametrize("shapes", [((4, 5), (5,)), ((2, 4, 5), (4, 1)), ((0, 5), (5,))], ids=str)
def test_broadcasting_into_parts(shapes, check):
    check(in_turns("x[1:] += y\nx[...] = y\nx[..., 1] = i", "x", "x, y"), arrays(*shapes))


@pytest.mark.parametrize("shapes", [((4,), (5,)), ((4, 5), (4,)), ((1,), (5,)), ((4, 1), (4, 5))])
def test_broadcasting_that_is_an_error(shapes, check):
    """In place: what is changed keeps its shape."""
    check(in_turns("x[0] = i\nx += y", "x", "x, y"), arrays(*shapes), times=0)


def test_extents_of_one_that_were_not_one_before(check):
    """A kernel for arrays whose extents differ is none for those of one element."""
    fn = in_turns("u = x + y\nx = u * 0.5", "u, x", "x, y")
    decorated = runmat.jit(fn)
    for n, m in [(4, 4), (4, 1), (1, 4), (1, 1), (5, 5), (3, 4), (6, 1), (7, 7), (8, 1), (9, 9)]:
        given = [arrays(n, m)(np.random.default_rng(n)) for _ in range(2)]
        compare(observe(fn, given[0], {}), observe(decorated, given[1], {}), exact=True)


# -- layouts ---------------------------------------------------------------------------------------
def laid_out(layout):
    """Makes a matrix in this layout, and a vector."""
    view = function_from(f"def f(a):\n    return {layout}\n", np=np)
    return lambda rng: (view(values(rng, (6, 9))), values(rng, 2))


@pytest.mark.parametrize("layout", OTHER_ORDERS)
def test_matrices_in_other_orders(layout, check):
    fn = in_turns(
        "a[1:] += 0.5 * a[0]\na[0] = a[1] - a[:, 0].max()\nx = x + a[-1, :2]", "a, x", "a, x"
    )
    check(fn, laid_out(layout))


@pytest.mark.parametrize("layout", OTHER_ORDERS)
@pytest.mark.parametrize(
    "made",
    ["a * 0.5", "a.copy()", "np.zeros_like(a)", "a + a[0]", "np.where(a > 0, a, 0)", "a > 0"],
)
def test_new_matrices_have_numpys_order(layout, made, check):
    """What that is, NumPy decides: where one is read afterwards, the loop is left to Python."""
    check(in_turns(f"b = {made}", "b", "a, x"), laid_out(layout), times=0)
    check(in_turns(f"b = {made}\nx[:] = b[1, 2:4]", "x", "a, x"), laid_out(layout))


@pytest.mark.parametrize("layout", OTHER_ORDERS)
def test_products_of_other_orders(layout, check):
    """NumPy's own loop adds the products of a matrix as it lies in memory."""
    view = function_from(f"def f(a):\n    return {layout}\n", np=np)

    def make(rng):
        a = view(rng.random((12, 9)))
        return a, rng.random(a.shape[1])

    body = "u = a @ x\nb = a @ a.T\nv = a[i] @ a.T\nw = a[:, 1:] @ x[1:]"
    check(in_turns(body, "u, b, v, w", "a, x"), make)


@pytest.mark.parametrize("view", ["x[::2]", "x[::-1]", "x[10::-3]", "x[1:]"])
def test_vectors_with_gaps(view, check):
    of = function_from(f"def f(x):\n    return {view}\n")
    fn = in_turns("x[1:] += x[:-1]\nu = x * 0.5\ns = u.sum() + x[::-1].max()", "x, u, s")
    check(fn, lambda rng: (of(values(rng, 20)),))


def read_only(rng):
    x = values(rng, 9)
    x.flags.writeable = False
    return (x,)


def unaligned(rng):
    return (np.frombuffer(bytearray(1) + values(rng, 9).tobytes(), "u1")[1:].view("d"),)


def repeated(rng):
    """Each element is at several places."""
    return (np.lib.stride_tricks.as_strided(values(rng, 16), (8, 8), (8, 8)),)


def test_arrays_that_cannot_be_written(check):
    check(in_turns("u = x * i\nx = u + x", "u, x"), read_only)
    check(in_turns("u = x * i\nx[1:] = u[1:]", "u, x"), read_only, times=0)


def test_arrays_that_are_not_aligned(check):
    check(in_turns("u = x * i\nx[1:] = u[1:]", "u, x"), unaligned, times=0)


def test_arrays_that_overlap_themselves(check):
    check(in_turns("u = x[i] * 2", "u"), repeated)
    check(in_turns("x[1:] += x[i]", "x"), repeated, times=0)


# -- dtypes ----------------------------------------------------------------------------------------
PAIRS = [a + b for a in "dfli?" for b in "dfli?"]


def of_dtypes(dtypes, extent=9):
    """Makes vectors of these dtypes: no zeros in the second one."""

    def make(rng):
        x, y = (values(rng, extent, dtype) for dtype in dtypes)
        y[y == 0] = 1
        return x, y

    return make


@pytest.mark.parametrize("dtypes", PAIRS)
def test_dtypes_of_operations(dtypes, check):
    body = "u = x + y\nv = x * y\nw = np.where(x > y, x, y)\nm = (x < y) | (x == y)\ns = x[0] + y"
    check(in_turns(body, "u, v, w, m, s", "x, y"), of_dtypes(dtypes))


@pytest.mark.parametrize("dtypes", PAIRS)
def test_dtypes_of_numbers(dtypes, check):
    body = "s = x.sum()\nm = y.mean()\np = " + ("0" if dtypes[0] == "?" else "x.argmax()")
    body += "\nu = s * y\nv = x * m\nw = x * 2 + y * 0.5\nk = int(s) + len(y)"
    check(in_turns(body, "s, m, p, u, v, w, k", "x, y"), of_dtypes(dtypes))


@pytest.mark.parametrize("dtypes", PAIRS)
def test_dtypes_of_stores(dtypes, check):
    """In place, where that keeps the dtype; into parts, where no float becomes an integer."""
    a, b = dtypes
    kept = np.result_type(a, b) == np.dtype(a)
    check(in_turns("x += y", "x", "x, y"), of_dtypes(dtypes), times=kept)
    check(in_turns("x *= y", "x", "x, y"), of_dtypes(dtypes), times=kept)
    cut = a in "li" and b in "fd"
    check(in_turns("x[1:] = y[:-1]\nx[0] = y[i]", "x", "x, y"), of_dtypes(dtypes), times=not cut)


@pytest.mark.parametrize("dtypes", PAIRS)
def test_dtypes_of_products(dtypes, check):
    check(in_turns("s = x @ y", "s", "x, y"), of_dtypes(dtypes), times=dtypes in ("dd", "ff"))


@pytest.mark.parametrize("dtype", ["L", "q", "e", "g", "G", "O", ">f8", ">i4", ">c16", "m8[s]"])
@pytest.mark.parametrize(
    "statement", ["u = x + x", "u = x[1:]\nx[1:] = x[:-1]", "u = y\ny[:2] = x[:2]"]
)
def test_other_dtypes_are_pythons(dtype, statement, check):
    def make(rng):
        return rng.integers(1, 9, 5).astype(dtype), np.arange(4.0)

    check(in_turns(statement, "x, y, u", "x, y"), make, times=0)


@pytest.mark.parametrize("dtype", ["l", "i"])
def test_integers_wrap(dtype, check):
    limits = np.iinfo(dtype)
    fn = in_turns("u = x + x\nv = x * x\nw = -x - 1\na = abs(x)\nx[1:] = v[:-1]", "u, v, w, a, x")
    check(fn, data(limits.min, limits.max, 7, -1, limits.max // 2 + 1, dtype=dtype))


@pytest.mark.parametrize("dtype", ["l", "i"])
@pytest.mark.parametrize("divisors", [(1, 2, -3), (1, 0, -3), (-1, -1, -1)])
def test_integers_are_divided(dtype, divisors, check):
    """Zeros, and the least integer by -1, are events."""

    def make(_rng):
        return np.array([np.iinfo(dtype).min, 7, -7], dtype), np.array(divisors, dtype)

    fn = in_turns("u = x // y\nv = x % y\nw = x / 4\nz = x // 2", "u, v, w, z", "x, y")
    check(fn, make, times=divisors == (1, 2, -3))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("i", 2**40),
        ("i", -(2**31) - 1),
        ("f", 1e300),
        ("l", 2**63),
        ("f", 2**60),
        ("i", 2.5),
        ("d", 2**70),
    ],
)
def test_numbers_beyond_the_dtype(dtype, number, check):
    """Python's numbers take the dtype of the array: an exception, a warning or a rounding."""
    native = (dtype, number) == ("i", 2.5)
    check(
        in_turns("x[0] = i\nu = x + k", "u, x", "x, k"),
        arrays(5, dtype=dtype, give=(number,)),
        times=native,
    )


@pytest.mark.parametrize("power", [2, 3, 0, 1, 0.5, -1, -1.0])
def test_powers(power, check):
    """By a number that is written, and by one that is not."""
    fn = in_turns(f"u = abs(x) ** {power}\nv = abs(x) ** k", "u, v", "x, k")
    check(fn, lambda rng: (1 + abs(values(rng, 9)), power), exact=False)


# -- special values and events ---------------------------------------------------------------------
SPECIAL = {
    "ordinary": (1.0, 2.5, -3.0),
    "zero": (1.0, 0.0, 3.0),
    "signed zeros": (-0.0, 0.0, -0.0),
    "negative": (1.0, -2.0, 3.0),
    "nan": (1.0, np.nan, -3.0),
    "infinite": (1.0, np.inf, -np.inf),
    "large": (1e200, -1e300, 3.0),
    "tiny": (1e-200, 5e-324, -1e-310),
}
OF_IEEE = [
    "u = 1 / x",
    "u = x * x - x",
    "u = np.maximum(1 / x, 0.5)",
    "u = np.where(x > 0, 1 / x, -x)",
    "u = (1 / x) > 0",
    "u = 1 / (1 / x)",
    "u = np.isnan(np.sqrt(x))",
    "u = np.minimum(x * x, 5.0)",
    "u = np.clip(1 / x, -1, 1)",
    "u = x ** 2",
    "u = abs(x) + -x",
    "u = np.sign(x) * np.floor(x)",
    "u = (x == x) & (x >= 0)",
    "u = 1 + x - x.max()",
    "u = x * np.min(x * x)",
    "u = x + np.argmax(x) * np.argmin(x)",
    "u = x * 2\nu[1:] /= x[:-1]",
    "u = np.zeros_like(1 / x)",
    "u = x\nt = 1 / x",
    "u = x\nn = len(x * x)",
]


@pytest.mark.parametrize("numbers", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize("statement", [*OF_IEEE, "u = x + x[0] / x[1]"])
def test_events_are_numpys(statement, numbers, check):
    """A loop with warnings is Python's; each is given as often as Python gives it."""
    fn, make = in_turns(statement, "u"), data(*numbers)
    warned = bool(observe(fn, make(None), {}).warned)
    check(fn, make, times=not warned)


@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("statement", OF_IEEE)
def test_ignored_events_are_none(statement, dtype, check):
    body = "with np.errstate(all='ignore'):\n    for i in range(3):\n        "
    fn = program(body + statement.replace("\n", "\n        ") + "\nreturn u")
    for numbers in SPECIAL.values():
        check(fn, data(*numbers, dtype=dtype))


@pytest.mark.parametrize(
    "function",
    ["np.sqrt(x)", "np.exp(x)", "np.log(x)", "np.tanh(x)", "np.cos(x)", "abs(x) ** 1.5"],
)
def test_functions_that_are_rounded(function, check):
    """Ours have bits of their own; their events are NumPy's."""
    fn = in_turns(f"u = {function} + np.isfinite(x)", "u")
    check(fn, data(0.5, 1.0, 2.5, 20.0), exact=False)
    for numbers in SPECIAL.values():
        check(fn, data(*numbers), times=None, exact=False)


@pytest.mark.parametrize("kept", ["divide", "invalid", "over"])
def test_events_of_which_some_are_ignored(kept, check):
    """The one that is left warns, and alone."""
    body = f"with np.errstate(all='ignore', {kept}='warn'):\n    for i in range(3):\n"
    body += (
        "        u = x / y\n        v = np.sqrt(x) * 1e200\n        x[1:] = u[:-1]\nreturn u, v, x"
    )
    fn, ordinary = program(body, "x, y"), (np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    check(fn, lambda _rng: tuple(map(np.copy, ordinary)))
    for x, y in [((1, 1), (0, 1)), ((0, 1), (0, 1)), ((-1, 1), (1, 1)), ((1e300, 1), (1, 1))]:
        check(fn, lambda _rng, x=x, y=y: (np.array(x, "d"), np.array(y, "d")), times=None)


@pytest.mark.parametrize("how", ["raise", "call"])
def test_other_answers_to_events(how, check):
    """Before an exception, turns have changed arguments."""

    def fn(x, y, how):
        with np.errstate(all=how, under="ignore", call=print):
            for _ in range(6):
                x += 1
                y[1:] = y[:-1] / (x[0] - 4)
        return x, y

    check(fn, lambda _rng: (np.array([1.0, 2.0]), np.arange(5.0), how), times=0)
    check(fn, lambda _rng: (np.array([9.0, 2.0]), np.arange(5.0), how), times=0)


def test_warnings_that_are_errors():
    def fn(x, y):
        for _ in range(6):
            x += 1
            y[1:] = y[:-1] / (x[0] - 4)
        return y

    decorated = runmat.jit(fn)
    for _ in range(3):
        seen = []
        for each in (fn, decorated):
            x, y = np.array([1.0, 2.0]), np.arange(5.0)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with pytest.raises(RuntimeWarning, match="divide by zero"):
                    each(x, y)
            seen.append((x.tolist(), y.tolist()))
        assert seen[0] == seen[1]


# -- exceptions ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "statement",
    [
        "y += x[k:]",
        "y[:] = x[k:]",
        "y[0] = x[k:] @ y",
        "y[7 + k] += 1",
        "y += a[7 + k]",
        "a[:, 7 + k] = y",
        "y[0] = 1 / (1 - k)",
        "y *= 5 % (1 - k)",
        "y += a[: 8 - 8 * k].max()",
        "y[0] = x[8 * k :].argmax()",
        "p, q = x[: 2 + k]",
        "y += np.outer(x, x[k:])[0]",
    ],
)
def test_exceptions_at_some_turn(statement, check):
    """What has been written by then is what Python has written."""
    body = "x[0] += 1\na[i] = x\nk = 1 if i == at else 0\n" + statement + "\na[:, 0] *= 2\ny -= 1"
    fn, given = in_turns(body, "y", "x, y, a, at", turns=5), arrays(8, 8, (8, 8), give=(9,))
    check(fn, given)
    for at in (0, 2, 4):
        check(fn, lambda rng, at=at: (*given(rng)[:3], at), times=0)


def test_exceptions_after_many_turns(check):
    """Beyond the first slice of a run."""

    def fn(x, y, n):
        for i in range(n):
            x += y
            y[1:] = x[:-1] * 0.5
            x[i % 700] += 1
        return x, y

    check(fn, arrays(700, 700, give=(690,)))
    check(fn, lambda rng: (values(rng, 680), values(rng, 680), 690), times=0)


# -- control flow ----------------------------------------------------------------------------------
def test_breaks_and_branches(check):
    def fn(x):
        for i in range(30):
            if (x > 0).any() and not np.all(x > 0.5):
                x = x + 0.25
            elif x.max() > 3:
                break
            else:
                continue
            last = i
        return x, i

    check(fn, arrays(9))


def test_while_loops(check):
    def fn(x):
        turns, y = 0, x * 2
        while np.max(np.abs(x)) > 1e-3 and turns < 50:
            y = x * 0.5
            turns += 1
            x = y - y[0] * 0.125
            if turns == 20:
                break
        return x, turns

    check(fn, arrays(9))


def test_a_while_loop_asks_arrays(check):
    def fn(x):
        turns = 0
        while (x < 2).any():
            x = x + 0.25
            turns += 1
        return x, turns

    check(fn, arrays(9))


def test_loops_in_loops(check):
    def fn(x):
        for i in range(3):
            for j in range(len(x)):
                u = x * j
                if u[1] > 1:
                    break
                x[j] += u[0] * 0.5
            v = x + i
        return x, v, i

    check(fn, arrays(4))


def test_names_of_inner_loops_afterwards(check):
    """They may be unbound: the inner loop is native in each turn of the outer one."""

    def fn(x):
        for _ in range(3):
            for j in range(len(x)):
                u = x * j
                x[j] += u[0] * 0.5
        return x, u, j

    check(fn, arrays(4), times=3)


def test_an_inner_loop_changes_what_the_outer_one_holds(check):
    def fn(x):
        w = x * 2
        for i in range(4):
            old = w
            for _ in range(i):
                w = w + old
                old = w * 0.5
            x += old
        return w, old, x

    check(fn, arrays(6))


def test_rows_and_elements_of_what_is_iterated(check):
    def fn(a, x):
        s = 0.0
        for i, row in enumerate(a):
            row += x  # noqa: PLW2901  (that is the question)
            for v in row:
                s = s + v
            for u, w in zip(row[1:], x):  # noqa: B905  (a keyword is not known)
                s = s - u * w
            x[i] = s
        for column in reversed(range(a.shape[1])):
            x[column] = a[:, column].max()
        return s, a, x

    check(fn, arrays((5, 6), 6), times=2)


def test_rows_are_unpacked(check):
    def fn(a, x):
        for _ in range(4):
            first, second = a
            first, second = second, first * 0.5
            a[0], a[1] = first, second
            p, q, r = x
            x[:] = q
            x[0] = r + p
        return a, x, p

    check(fn, arrays((2, 5), 3))


@pytest.mark.parametrize("before", ["None", "0", "0.0", "1", "a[0]", "np.zeros(5)", "a[0] * 1"])
def test_names_that_become_arrays(before, check):
    """In the first turn; the name is Python's number until then, or nothing."""
    turn = "row * 2.0" if before == "None" else "t + row"
    check(program(f"t = {before}\nfor row in a:\n    t = {turn}\nreturn t", "a"), arrays((4, 5)))


def test_numbers_that_may_be_numpys(check):
    """Python's zero, or the extreme of an array: the class depends on the data."""

    def fn(x):
        s, best = 0, 0.0
        for i in range(4):
            if x[i] > 0:
                s = np.max(x)
            best = max(best, x[i])
        return s, best

    check(fn, arrays(6), calls=8)


def test_names_of_a_turn_are_read_afterwards(check):
    def fn(a):
        for i, row in enumerate(a):
            double = row * 2
            total = double.sum()
            if total > 0:
                place = i
            else:
                place = -1
        return double, total, place, i

    check(fn, arrays((4, 5)))


# -- functions of the program's --------------------------------------------------------------------
GAINS = np.array([1.0, 0.5, 0.25])


def shifted(v):
    v[1:] = v[:-1]
    return v


def scaled(v):
    v = v * GAINS
    v += 1
    return v


def parts(v, w):
    return v + w, (v - w)[0]


def norm(v):
    return np.sqrt(v @ v)


def test_functions_that_change_what_they_are_given(check):
    def fn(x):
        for i in range(4):
            u = shifted(x)
            u[0] = i
        return u, x

    check(fn, arrays(6))


def test_functions_that_bind_their_parameters_anew(check):
    def fn(x):
        for _ in range(4):
            u = scaled(x)
            x[0] = u[1]
        return u, x

    check(fn, arrays(3))


def test_functions_that_return_several_values(check):
    def fn(x, y):
        for _ in range(4):
            u, s = parts(x, y)
            x[...] = u * 0.5
            y += s
        return u, s, x, y

    check(fn, arrays(5, 5))


def test_functions_that_reduce(check):
    def fn(x):
        for _ in range(4):
            n = norm(x)
            x = x / (n + 1)
        return x, n

    check(fn, arrays(5))


def test_functions_within_the_function(check):
    def fn(x, y):
        def rate(u):
            return np.stack([u[1], -u[0]])

        for _ in range(4):
            k = rate(x + 0.5 * rate(x))
            x = x + 0.25 * k
        return x

    check(fn, arrays(2, 2))


def test_arrays_that_functions_read_may_change_between_calls(natively, monkeypatch):
    def fn(x):
        for _ in range(4):
            x = scaled(x)
        return x

    decorated = runmat.jit(fn)
    for number in range(6):
        monkeypatch.setitem(globals(), "GAINS", np.arange(3.0) + number // 2)
        x = np.arange(3.0) - number
        compare(observe(fn, (x,), {}), observe(decorated, (x.copy(),), {}), exact=True)
    assert natively() == 6


COUNTING = """
TABLE = np.array([1.0, 2.0, 3.0])

class Held:
    def __init__(self):
        self.state = np.zeros(3)

HELD = Held()

def counted(u):
    TABLE[0] += 1.0
    return u * TABLE

def f(x):
    for i in range(4):
        HELD.state[1:] += x[0]
        x = counted(x) + HELD.state
    return x, TABLE, HELD.state
"""


def test_functions_that_change_globals(natively):
    one, two = module(COUNTING), module(COUNTING)
    decorated = runmat.jit(two["f"])
    for number in range(4):
        x = np.arange(3.0) + number
        compare(observe(one["f"], (x,), {}), observe(decorated, (x.copy(),), {}), exact=True)
    table = two["TABLE"]
    compare(observe(one["f"], (one["TABLE"],), {}), observe(decorated, (table,), {}), exact=True)
    assert natively() == 5


# -- what is left to Python ------------------------------------------------------------------------
def of_a_generator(x):
    def turns():
        for i in range(4):
            u = x * i
            yield u

    return list(turns())


def in_try(x):
    try:
        for i in range(9):
            x += 1
            x[i] = 4
    except IndexError:
        return x, i
    return None


def before_finally(x):
    try:
        for i in range(9):
            x += 1
            x[i] = 4
    finally:
        x[0] = 9


def a_list_of_results(x):
    out = [x]
    for _ in range(4):
        out += [out[-1] * 2]
    return out


def a_dict(x):
    found = {}
    for i in range(4):
        found[i] = x * i
    return found


def printed(x):
    for i in range(4):
        x = x + i
        print(x[0])  # noqa: T201  (that is the question)
    return x


def asserted(x):
    for _ in range(4):
        x += x
        assert x[0] < 20
    return x


def with_else(x):
    for _ in range(4):
        x = x * 2
    else:  # noqa: PLW0120  (that is the question)
        x = x + 1
    return x


def a_closure_looks(x):
    def first():
        return x[0]

    s = 0.0
    for _ in range(4):
        x = x + 1
        s += first()
    return s


def arrays_as_indices(x):
    for _ in range(4):
        x[[0, 1]] = x[[1, 0]]
        x[x > 1] -= 1
    return x


def extents_change(x):
    for _ in range(4):
        x = x[1:] + x[:-1]
    return x


def views_are_results(x):
    for i in range(4):
        y = x[i:]
        y += 1
    return y


def operands_change(x):
    for _ in range(4):
        pair = (x + 1, x * 2)
        x[0] = 5
        s = pair[0] + pair[1]
    return s


def bound_in_an_expression(x):
    for _ in range(4):
        s = x + (x := x * 2)
    return x, s


def one_of_two_arrays(x):
    y = x * 2
    for i in range(4):
        u = x if i % 2 else y
        u[i] = 9
    return u, x, y


def stored_after_new_ones(x):
    """Whether the store shows in the argument, the data decide."""
    u = x
    for i in range(4):
        if x[i] > 0:
            u = u + 1
        u[i] = 9
    return u, x


@pytest.mark.parametrize(
    "fn",
    [
        *(of_a_generator, in_try, before_finally, a_list_of_results, a_dict, printed),
        *(asserted, with_else, a_closure_looks, arrays_as_indices, extents_change),
        *(views_are_results, operands_change, bound_in_an_expression, one_of_two_arrays),
        stored_after_new_ones,
    ],
)
def test_loops_of_pythons(fn, check):
    check(fn, arrays(7), times=0)


class Kept(np.ndarray):
    """A subclass that says what it was made from."""

    def __array_finalize__(self, other):
        self.origin = type(other).__name__


OTHERS = {
    "a subclass": lambda rng: values(rng, 4).view(Kept),
    "a masked array": lambda rng: np.ma.array(values(rng, 4), mask=[0, 1, 0, 0]),
    "no axes": lambda rng: np.array(2.5 + rng.integers(3)),
    "texts": lambda _rng: np.array(list("abcd")),
    "records": lambda _rng: np.zeros(4, "f8, i4"),
    "a list": lambda rng: values(rng, 4).tolist(),
}


@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize(
    "statement",
    ["u = x + x", "u = y * x", "y[:] = x", "x += y", "u = np.where(y > 1, x, y)", "u = x[1:]"],
)
def test_what_is_no_plain_array(make, statement, check):
    fn = in_turns(f"z[0] = i\n{statement}", "u, x, y, z", "x, y, z, u")
    check(fn, lambda rng: (make(rng), np.arange(4.0), np.zeros(2), 0), times=0)


# -- what was wrong once ---------------------------------------------------------------------------
def test_one_new_array_by_two_names(check):
    check(in_turns("u = v = x + 1\nu[0] = 5.0", "u, v"), arrays(3), times=None)


def test_what_is_iterated_is_computed_once(check):
    check(program("for v in x * 2:\n    x[-1] += v\nreturn x"), arrays(300), times=None)


@pytest.mark.parametrize("bound", ["int(x[0])", "x[0]", "x[:2].max()"])
def test_the_bound_of_a_range_is_computed_once(bound, check):
    fn = program(f"n = 0\nfor i in range({bound}):\n    x -= 1\n    n += 1\nreturn n")
    check(fn, lambda _rng: (np.full(3, 400),), times=None)


def test_several_new_arrays_without_elements(check):
    check(in_turns("u = x + 1\nv = x * 2", "u, v"), arrays(0), times=None)


@pytest.mark.parametrize("reduced", ["(x > 0).max()", "np.min(x > 0)"])
def test_extremes_of_truth_values(reduced, check):
    check(in_turns(f"s = {reduced}", "s"), arrays(9), times=None)


@pytest.mark.parametrize("statement", ["x[i:][0] += 1", "y = x[i:]\ny[1] = i"])
def test_elements_of_slices_that_move(statement, check):
    check(in_turns(statement), arrays(9), times=None)


@pytest.mark.parametrize(
    "low", [np.array(1.0), np.float16(1), np.uint8(1), np.ones(4, "B")], ids=repr
)
def test_operands_that_no_kernel_knows_are_not_none(low, check):
    check(in_turns("u = np.clip(x, low, 2.0)", "u", "x, low"), arrays(4, give=(low,)), times=None)


def test_an_axis_that_no_kernel_knows(check):
    fn = in_turns("u = a.max(axis)", "u", "a, axis")
    check(fn, arrays((2, 3), give=(np.uint8(0),)), times=None)


def test_extremes_of_nothing(check):
    check(in_turns("u = a.max(axis=1)", "u", "a"), arrays((0, 0)), times=None)


def test_rolled_vectors_do_not_own_their_memory(check):
    check(in_turns("u = np.roll(x, 1)", "u"), arrays(9), times=None)


@pytest.mark.parametrize("product", ["(a * 0.5) @ x", "np.copy(a) @ x", "np.dot(a, x)"])
def test_products_of_new_arrays_in_other_orders(product, check):
    def make(rng):
        return np.asfortranarray(rng.random((20, 20))), rng.random(20)

    check(in_turns(f"u = {product}", "u", "a, x"), make, times=None)


@pytest.mark.parametrize("product", ["np.dot(a, a.T)", "np.dot(a.T, a)"])
def test_dot_of_a_matrix_with_gaps_and_its_transpose(product, check):
    def make(rng):
        return (rng.standard_normal((66, 33))[::2],)

    check(in_turns(f"u = {product}", "u", "a"), make, times=None)


def with_gaps(array, how):
    """The same elements in the rows or columns of a larger matrix."""
    if how == "plain" or array.ndim < 2:
        return array
    wide = np.zeros([n + 3 for n in array.shape], array.dtype, "F" if how == "columns" else "C")
    part = wide[: array.shape[0], : array.shape[1]]
    part[...] = array
    return part


@pytest.mark.parametrize("hows", list(itertools.product(("plain", "rows", "columns"), repeat=2)))
@pytest.mark.parametrize("size", [(5, 7, 3), (17, 5, 1), (1, 1, 1), (1, 3, 2), (4, 1, 4)], ids=str)
def test_dot_has_the_bits_of_numpys_dot(size, hows):
    """NumPy copies some operands with gaps, and multiplies by single numbers: -0.0 stays."""
    rng = np.random.default_rng(1)
    m, k, n = size
    for shapes in (((m, k), (k, n)), ((m, k), (k,)), ((k,), (k, n)), ((k,), (k,))):
        a, b = (
            with_gaps((rng.integers(-3, 4, s) * rng.random(s)).astype("f"), how)
            for s, how in zip(shapes, hows, strict=True)
        )
        fn = in_turns("u = np.dot(a, b)", "u", "a, b", turns=300)
        decorated = runmat.jit(fn)
        for _ in range(3):
            assert decorated(a, b).tobytes() == fn(a, b).tobytes()


def test_functions_of_what_changes_its_class_after_the_first_turn(check):
    text = """
def more(x):
    return x + 1
def fn(n, t):
    for i in range(n):
        x = 1
        for j in range(4):
            x = more(x) * 0.5
        t = t + x
    return t
"""
    check(module(text)["fn"], lambda _rng: (9, 1.0))


def test_one_loop_of_numbers_and_of_arrays():
    def fn(x, n):
        for _ in range(n):
            x = x * 0.5 + 1.0
        return x

    decorated = runmat.jit(fn)
    for x in (np.arange(9.0), 3.0, np.arange(5.0), 4.0):
        expected = fn(x, 40)
        found = decorated(x, 40)
        assert type(found) is type(expected)
        np.testing.assert_array_equal(found, expected)


# -- rows longer than one total --------------------------------------------------------------------
LONG = (8_191, 8_193, 16_385, 65_535, 65_537, 140_000)
OF_LONG_ROWS = {
    "sum": "x[i:].sum()",
    "sum of every": "x[:: i + 1].sum()",
    "mean": "(x[i:] * 2).mean()",
    "extremes": "x[i:].max() - x[: -i - 1].min()",
    "truth": "(x[i:] > 2).any() + (x[i:] < 2.5).all()",
    "count": "(x[i:] > 0.5).sum()",
    "positions": "x[i:].argmax() - x[: -i - 1].argmin()",
    "rows": "x[: x.size // 3 * 3].reshape(3, -1).sum(axis=1).max()",
}


@pytest.mark.parametrize("dtype", ["d", "f", "l", "i"])
@pytest.mark.parametrize("what", OF_LONG_ROWS)
def test_reductions_of_rows_of_any_length_run_natively(check, what, dtype):
    fn = in_turns(f"s = s + {OF_LONG_ROWS[what]}", "s", "x, s", turns=200)
    exact = what != "mean" or dtype == "d"
    for extent in LONG if dtype == "d" else LONG[1:4]:
        times = None if what == "rows" else 1
        check(fn, arrays((extent,), dtype=dtype, give=(0,)), times=times, exact=exact, calls=2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
def test_events_of_long_sums_are_reported(check, bad):
    fn = in_turns("s = s + x[i:].sum() * 0", "s", "x, s", turns=200)

    def make(rng):
        x = values(rng, 20_000)
        x[9_000] = x[19_000] = bad
        return x, 0.0

    check(fn, make, times=None)


def test_sums_of_long_rows_have_the_bits_of_kernels(natively):
    total = runmat.jit(lambda x: x.sum())
    fn = runmat.jit(in_turns("s = s * 0 + x[i:].sum()", "s", "x, s", turns=200))
    for extent in (*LONG, 1_000_001):
        x = np.random.default_rng(extent).random(extent)
        for _ in range(2):
            assert fn(x, 0.0) == total(x[199:])
    assert natively() >= len(LONG)


# -- extents that change from turn to turn ---------------------------------------------------------
MOVING = {
    "a matrix and a vector": "y = a[i:, :i] @ x[:i]\ns = s * 0.5 + y.sum()",
    "a vector and a matrix": "y = x[i:] @ a[i:, :i]\ns = s * 0.5 + y.sum()",
    "two matrices": "y = a[i:, :i] @ a[:i, i:]\nx[i] = y[0, 0]",
    "two vectors": "s = s * 0.5 + x[i:] @ x[i:]",
    "a transpose": "y = a[:i, i:].T @ x[:i]\ns = s * 0.5 + y.sum()",
    "rows with gaps": "y = a[::2, :i] @ x[:i]\ns = s * 0.5 + y.sum()",
    "stored where it is read": "x[i:] = a[i:, :i] @ x[:i]",
    "in place": "x[i:] -= a[i:, :i] @ x[:i]",
    "a product of a product": "y = a[i:, i:] @ x[i:]\nz = a[i:, i:].T @ y\ns = s * 0.5 + z[0]",
    "several at once": "z = a[i:, :i] @ x[:i]\ny = z * 2\nw = z + y\ns = s * 0.5 + (w - z).sum()",
    "an outer product": "a[i:, i:] -= np.outer(x[i:], x[i:]) * 0.25",
    "sums of rows": "y = a[i:, :i].sum(axis=1)\ns = s * 0.5 + y.sum()",
    "extremes of columns": "y = a[i:, : i + 2].max(axis=0)\ns = s * 0.5 + y[-1]",
    "positions in rows": "y = a[i:, : i + 1].argmax(axis=1)\ns = s * 0.5 + y[0]",
    "zeros": "y = np.zeros_like(x[i:])\ny[0] = i\ns = s * 0.5 + y.sum()",
    "places": "y = x[k[i:]]\ns = s * 0.5 + y.sum()",
    "before an end": "y = a[: -1 - i, :i] @ x[:i]\ns = s * 0.5 + y.sum()",
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["d", "f"])
@pytest.mark.parametrize("name", MOVING)
def test_extents_that_change_from_turn_to_turn(name, dtype, order, check):
    """Factors and substitutions row by row: what is made has room for the most that it may have."""
    lines = MOVING[name].replace("\n", "\n        ")
    text = f"def f(x, a, k, n):\n    s = 0.0\n    for i in range(n):\n        {lines}\n"
    fn = function_from(f"{text}    return s, x, a\n", np=np)

    def make(rng):
        n = 9
        a = np.asarray(values(rng, (n, n), dtype), order=order)
        return values(rng, n, dtype), a, rng.integers(0, n, n), n

    places = name in ("positions in rows", "zeros", "places")
    check(fn, make, times=1 if order == "C" and (dtype == "d" or places) else None, calls=5)


@pytest.mark.parametrize(
    "body",
    ["s += (a[i:, :i] @ x[: i + 1]).sum()", "x[i:] = a[1:, :i] @ x[:i]", "y = a[i:, :i] @ x[:i]"],
)
def test_extents_that_do_not_match(body):
    """Python raises in the turn in which they do not; or the array is read after the loop."""
    text = f"def f(x, a, n):\n    s, y = 0.0, 0\n    for i in range(n):\n        {body}\n"
    fn = function_from(f"{text}    return s, x, y\n", np=np)
    decorated = runmat.jit(fn)
    for seed in range(3):
        pair = [arrays(7, (7, 7), give=(7,))(np.random.default_rng(seed)) for _ in range(2)]
        compare(observe(fn, pair[0], {}), observe(decorated, pair[1], {}))
