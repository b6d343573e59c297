"""Python's control flow, scopes and statements in captured functions; oracle: plain Python."""

import contextlib
import math
import random
import time

import numpy as np
import pytest

from tests.capture.behavior import check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def vector(rng):
    return (rng.normal(size=6),)


class Noted:
    """A context manager that notes what happens and swallows exceptions."""

    def __init__(self, notes):
        self.notes = notes

    def __enter__(self):
        self.notes.append("in")
        return 3.0

    def __exit__(self, *_):
        self.notes.append("out")
        return True


@program
def branches_on_values(x):
    if x[0] > 0 and x[1] > 0 or not x.any():
        return x * 2
    return [x, -x][int(x[0] > 0.5)] if x[1] < 0 else x[int(abs(x[0]) * 2) % 6]


@program
def writes_and_branches(x):
    for i in range(3):
        x[i] = x[i] * 2
        if x[i] > 0:
            x[i + 1] += 1
    return x.copy()


@program
def a_loop_until_converged(x):
    history = []
    for number in range(20):
        x = x * 0.5 + 0.1
        error = np.abs(x).max()
        history.append(error)
        if error < 0.21:
            break
    return history, number, x


@program
def loops_with_else(x):
    n = 0
    while n < 3:
        if x[n] > 2:
            break
        n += 1
    else:
        n = 100
    for q in x:
        if q > 10:
            break
    else:
        n += 1
    return n


@program
def a_while_loop_on_python_numbers(x):
    n = int(abs(x[0]) * 3) + 1
    found = []
    while n > 0:
        found.append(n)
        n -= 1
    return found, x[: len(found)]


@program
def a_context_manager_swallows(x):
    notes = []
    with Noted(notes) as three:
        x = x * three
        raise ValueError("a")
    return x, notes


@program
def contexts_of_the_library(x):
    with contextlib.suppress(ZeroDivisionError), np.printoptions(precision=3):
        y = x * 2
        1 / 0
    return y


@contextlib.contextmanager
def noted(notes):
    notes.append("in")
    try:
        yield len(notes)
    finally:
        notes.append("out")


@program
def a_generator_as_a_context(x):
    notes = []
    with noted(notes) as number:
        y = x + number
    return y, notes


@program
def try_except_else_finally(x):
    notes = []
    for i in (0, 7):
        try:
            y = x[i] * 2
        except IndexError as error:
            notes.append(str(error)[:10])
        else:
            notes.append(y)
        finally:
            x[0] = 9
    return notes, x


@program
def a_match_statement(x):
    match x.shape:
        case (n,):
            found = n
        case _:
            found = 0
    match {"a": x.sum() > 0}:
        case {"a": True}:
            return found, 1
        case {"a": other}:
            return found, bool(other)


@program
def assignment_expressions(x):
    if (total := x.sum()) > 0:
        first, *rest = x
    else:
        *rest, first = x
    return total, first, rest


@program
def conditional_expressions(x):
    k = 2 if x.shape == (6,) else 3
    return x * k, x if x is None else x + 1, (x.ndim == 1 and "vector") or "other"


@program
def closures_and_nonlocal(x):
    n = 0

    def inner(y):
        nonlocal n
        n += 1
        x[n] = n
        return y * n

    return inner(x), inner(x), n


@program
def closures_over_values(x):
    total = x.sum()
    functions = [lambda y, i=i: y * i + x[i] + total for i in range(3)]
    return [f(x[:2]) for f in functions], (lambda: x.mean())()


@program
def inner_generators(x):
    def running():
        s = 0
        while True:
            s += yield s

    g = running()
    next(g)
    return [g.send(float(a)) for a in x[:3]], any(a > 0 for a in x), sum(a * 2 for a in x)


@program
def generator_expressions_and_delegation(x):
    def inner():
        yield from x[:2]
        got = yield from two()
        yield got

    def two():
        yield x.sum()
        return x[0]

    return list(inner())


@program
def recursion_with_a_default(x, n=3):
    return x if n == 0 else recursion_with_a_default(x * 2, n - 1)


@program
def mutual_recursion(x):
    def even(n, y):
        return y if n == 0 else odd(n - 1, y + 1)

    def odd(n, y):
        return y if n == 0 else even(n - 1, y * 2)

    return even(4, x)


@program
def decorators_of_inner_functions(x):
    import functools

    def twice(f):
        @functools.wraps(f)
        def wrapper(*args):
            return f(f(*args))

        return wrapper

    @twice
    def step(y):
        return y * 2 + 1

    @functools.lru_cache
    def cached(n):
        return n * 2

    return step(x), step.__name__, cached(3) + cached(3)


@program
def imports_inside(x):
    import math as mm

    from numpy import linalg as la

    return x * mm.pi, la.norm(x), mm.floor(x[0])


@program
def calls_by_name(x):
    function = np.sin if x.ndim == 1 else np.cos
    table = {"a": np.add, "b": np.multiply}
    return (
        function(x),
        table["a"](x, 1),
        [h(x) for h in (np.exp, abs)],
        getattr(np, "tan")(x),  # noqa: B009
        getattr(x, "sum")(),  # noqa: B009
        hasattr(x, "foo"),
        callable(x),
        x.__class__.__name__,
        getattr(x, "nothing", 5),
    )


@program
def method_references(x):
    total, shape = x.sum, x.reshape
    return total(), shape(2, 3), list(map(x.dot, [x, x * 2])), x.mean.__name__


@program
def print_between_operations(x):
    y = x * 2
    print(y.sum())
    z = y + 1
    x[0] = 5
    print("after", x, file=None)
    return z


@program
def text_of_values(x):
    return f"{x.mean():.3f} {x.shape} {x[0]!r}", f"{x}", "%s" % (x[:2],), str(x.dtype)


@program
def random_numbers_of_python(x):
    random.seed(1)
    return x * random.random()


@program
def global_random_numbers(x):
    np.random.seed(3)
    return x + np.random.normal(size=6), np.random.rand(), np.random.permutation(3)


@program
def a_fresh_generator(x):
    rng = np.random.default_rng(5)
    return x + rng.normal(size=6), rng.integers(0, 9, 3), rng.choice(x, 2)


@program
def time_passes(x):
    before = time.perf_counter()
    y = x * 2
    return y, time.perf_counter() >= before


@program
def ndindex_and_friends(x):
    m = x.reshape(2, 3)
    total = 0.0
    for i, j in np.ndindex(m.shape):
        total = total + m[i, j] * i
    for (i, j), value in np.ndenumerate(m):
        total = total + value * j
    return total, [a + b for a, b in np.broadcast(x, 1.0)]


@program
def grids_and_index_objects(x):
    a, b = np.mgrid[0:2, 0:3]
    c = np.r_[x[:2], 0, 5]
    d = np.c_[x, x]
    return a * 1.0 + b, c, d, x[np.ix_([0, 2])], np.s_[1:2], np.ogrid[0:2]


@program
def callbacks_of_numpy(x):
    scale = x[0]
    g = np.vectorize(lambda a: a if a > 0 else -a * 2)
    return (
        g(x),
        np.apply_along_axis(lambda r: r.sum() * scale, 0, x.reshape(2, 3)),
        np.fromfunction(lambda i, j: i + j, (2, 2)),
        np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * scale]),
        np.fromiter((a * 2 for a in x), float),
    )


@program
def sorting_with_keys(x):
    return sorted(x, key=lambda a: -a)[:2], max(x, key=abs), min([1, 2], key=lambda n: x[n])


@program
def bool_contexts(x):
    return bool(x.any()), not x.all(), [a for a in x if a], any(x > 0), all([x.sum() > 1, True])


@program
def deleting_names(x):
    y = x + 1
    z = y * 2
    del y
    try:
        y
    except UnboundLocalError as error:
        return z, str(error)


@program
def long_chains(x):
    for _ in range(60):
        x = x * 0.99 + 0.01
    return x


@program
def star_targets_and_nested_loops(x):
    found = []
    for i, (a, *b) in enumerate([(x, 1, 2), (x * 2, 3)]):
        for j in range(2):
            if j == 1:
                continue
            found.append((a + i, len(b)))
    return found


@program
def assertions_that_hold(x):
    assert x.shape == (6,), "shape"
    assert x.sum() < math.inf
    return x + 1


@program
def annotations_and_docstrings(x: np.ndarray) -> "np.ndarray":
    """A docstring."""
    y: np.ndarray = x * 2
    z: int
    return y


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn):
    check(fn, vector, seeds=(0, 0, 1, 2, 3, 0))


REPLAYED = (
    long_chains,
    closures_over_values,
    decorators_of_inner_functions,
    recursion_with_a_default,
    mutual_recursion,
    method_references,
    conditional_expressions,
    annotations_and_docstrings,
    star_targets_and_nested_loops,
)


@pytest.mark.parametrize("fn", REPLAYED[:2] + REPLAYED[3:], ids=lambda fn: fn.__name__)
def test_programs_that_need_no_python(fn):
    check(fn, vector, replayed=True)


@pytest.mark.parametrize(
    "fn",
    [callbacks_of_numpy],
    ids=lambda fn: fn.__name__,
)
def test_programs_that_need_python_in_every_call(fn):
    check(fn, vector, replayed=False)


def draws_and_branches(x, rng):
    a = rng.normal(size=2)
    x += a[0]
    if a[1] > 0:
        x *= rng.random()
        return x, a
    if x.sum() > 1:
        return rng.integers(9), x
    x[0] = -1
    return x


def draws_of_many_kinds(x, rng):
    rng.shuffle(x)
    z = rng.choice(x, 3, replace=False)
    state = rng.bit_generator.state["state"]["state"] % 7
    return z, state, rng.integers(0, 5, size=x.shape[0]), rng.standard_normal(out=x)


@pytest.mark.parametrize("fn", [draws_and_branches, draws_of_many_kinds])
@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators_of_random_numbers(fn, kind):
    if kind is np.random.RandomState and fn is draws_of_many_kinds:
        pytest.skip("the older generator has none of these methods")

    def make(rng):
        return rng.normal(size=6), kind(int(rng.integers(99)))

    if kind is np.random.RandomState:
        check(lambda x, rng: (x + rng.normal(size=6), rng.rand()), make)
    else:
        check(fn, make, seeds=(0, 0, 1, 2, 3, 4))


def many_results(x):
    found = []
    for _ in range(400):
        x = x + 1
        found.append(x)
    return found


def many_operands(x):
    parts = [x[i : i + 2] * i for i in range(4)] * 100
    total = np.zeros(2)
    for number, part in enumerate(parts):
        total = total + np.full(2, float(number)) * part
    return total


@pytest.mark.parametrize("fn", [many_results, many_operands])
def test_more_arrays_than_one_kernel_takes(fn):
    check(fn, vector, seeds=(0, 0, 1), replayed=True)


def test_more_arguments_than_one_kernel_takes():
    def fn(items):
        total = items[0] * 2
        for item in items[1:]:
            total = total + item
            item += 1
        return total

    check(fn, lambda rng: ([rng.normal(size=3) for _ in range(300)],), seeds=(0, 0), replayed=True)
