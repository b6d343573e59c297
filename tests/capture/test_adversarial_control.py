"""Programs whose way depends on values, exceptions and callbacks; oracle: plain Python."""

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg
import scipy.signal

from tests.capture.behavior import check

SEEDS = (0, 0, 1, 0, 2, 3, 1, 4, 5, 0)


class Suppress:
    """Swallows exceptions, and says when it is entered and left."""

    def __init__(self, said):
        self.said = said

    def __enter__(self):
        self.said.append("in")
        return 3.0

    def __exit__(self, *_exception):
        self.said.append("out")
        return True


def vector(rng):
    return (rng.normal(size=6),)


def vector_and_index(rng):
    return rng.normal(size=6), int(rng.integers(0, 9))


def indices_and_vector(rng):
    return rng.integers(0, 3, 5), rng.normal(size=6)


def vector_and_generator(rng):
    return rng.normal(size=6), np.random.default_rng(int(rng.integers(99)))


def vector_and_number(rng):
    return rng.normal(size=6), float(rng.normal())


# -- exceptions ------------------------------------------------------------------------------------
def contexts_that_swallow(x):
    said = []
    with Suppress(said) as factor:
        x = x * factor
        raise ValueError("a")
    return x, said


def indices_that_may_be_out_of_range(x, i):
    try:
        y = x[i] * 2
    except IndexError as error:
        return str(error)[:10]
    else:
        y = y + 1
    finally:
        x[0] = 9
    return y


def index_arrays_that_may_be_out_of_range(indices, x):
    try:
        return x[:2][indices]
    except IndexError:
        return "bad"


def raises_after_a_write(x):
    x[0] = 5
    if x[1] > 0:
        raise ValueError("no %s" % x.shape)
    try:
        if x[2] > 0:
            raise KeyError("k")
        x[3] = 7
    except KeyError:
        x[4] = 8
    return x


def error_states_inside(x):
    with np.errstate(all="ignore"):
        y = np.log(x * 0)
    try:
        with np.errstate(divide="raise"):
            y = y + 1 / (x * 0)
    except FloatingPointError:
        y = y * 0 + 2
    return y


# -- ways ------------------------------------------------------------------------------------------
def names_bound_in_conditions(x):
    if (total := x.sum()) > 0:
        first, *rest = x
    else:
        *rest, first = x
    return total, first, rest


def patterns(x):
    match x.shape:
        case (n,):
            rank = n
        case _:
            rank = 0
    match {"positive": x.sum() > 0}:
        case {"positive": True}:
            return rank, 1
        case {"positive": other}:
            return rank, bool(other)


def many_ways(x, a):
    if (a > 0 and x[0] > 0) or not x.any():
        return x
    return [x, -x][a > 0.5] if x[1] < 0 else x[int(abs(a) * 2) % 6]


def loops_with_else(x):
    n = 0
    while n < 3:
        if x[n] > 2:
            break
        n += 1
    else:
        n = 100
    for element in x:
        if element > 10:
            break
    else:
        n += 1
    return n


def loops_until_small(x):
    history = []
    for step in range(20):
        x = x * 0.5 + 0.1
        error = np.abs(x).max()
        history.append(error)
        if error < 0.21:
            break
    return history, step, x


def loops_as_long_as_a_value_says(x):
    n = int(abs(x[0]) * 3) + 1
    seen = []
    while n > 0:
        seen.append(n)
        n -= 1
    return seen, x[: len(seen)]


def writes_before_each_decision(x):
    for i in range(3):
        x[i] = x[i] * 2
        if x[i] > 0:
            x[i + 1] += 1
    return x.copy()


def draws_before_decisions(x, rng):
    drawn = rng.normal(size=2)
    x += drawn[0]
    if drawn[1] > 0:
        x *= rng.random()
        return x, drawn
    if x.sum() > 1:
        return rng.integers(9), x
    x[0] = -1
    return x


def draws_of_every_kind(x, rng):
    rng.shuffle(x)
    chosen = rng.choice(x, 3, replace=False)
    state = rng.bit_generator.state["state"]["state"] % 7
    return chosen, state, rng.integers(0, 5, size=x.shape[0]), rng.standard_normal(out=x)


# -- functions -------------------------------------------------------------------------------------
def recursion(x, n=3):
    return x if n == 0 else recursion(x * 2, n - 1)


def functions_by_value(x):
    chosen = np.sin if x.sum() > 0 else np.cos
    table = {"a": np.add, "b": np.multiply}
    return chosen(x), table["a"](x, 1), [f(x) for f in (np.exp, abs)], getattr(np, "tan")(x)  # noqa: B009


def functions_that_keep_loop_variables(x):
    scaled = [lambda y, i=i: y * i + x[i] for i in range(3)]
    return [f(x[:2]) for f in scaled], (lambda: x.mean())()


def imports_inside(x):
    import math as m

    from numpy import linalg as la

    return x * m.pi, la.norm(x), m.floor(x[0]), m.fsum(x), m.hypot(x[0], 2)


def generators_that_are_sent_values(x):
    def sums():
        total = 0
        while True:
            total += yield total

    running = sums()
    next(running)
    return [running.send(float(a)) for a in x[:3]], any(a > 0 for a in x)


def callbacks_of_python(x):
    halved = functools.reduce(lambda a, b: a * 0.5 + b, x)
    return halved, list(map(lambda a: a + 1, x[:2])), sorted(x, key=lambda a: -a)[:2]


def callbacks_of_numpy(x):
    signed = np.vectorize(lambda a: a if a > 0 else -a * 2)
    rows = np.apply_along_axis(lambda row: row.sum(), 0, x.reshape(2, 3))
    return signed(x), rows, np.fromfunction(lambda i, j: i + j, (2, 2))


def calls_of_scipy(x):
    filtered = scipy.signal.lfilter([0.2, 0.3], [1, -0.5], x)
    return filtered, scipy.linalg.norm(x), scipy.signal.savgol_filter(x, 5, 2)


def threads_inside(x):
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda a: a + 1, [x, x * 2]))


PROGRAMS = [
    (contexts_that_swallow, vector),
    (indices_that_may_be_out_of_range, vector_and_index),
    (index_arrays_that_may_be_out_of_range, indices_and_vector),
    (raises_after_a_write, vector),
    (error_states_inside, vector),
    (names_bound_in_conditions, vector),
    (patterns, vector),
    (many_ways, vector_and_number),
    (loops_with_else, vector),
    (loops_until_small, vector),
    (loops_as_long_as_a_value_says, vector),
    (writes_before_each_decision, vector),
    (draws_before_decisions, vector_and_generator),
    (draws_of_every_kind, vector_and_generator),
    (recursion, vector),
    (functions_by_value, vector),
    (functions_that_keep_loop_variables, vector),
    (imports_inside, vector),
    (generators_that_are_sent_values, vector),
    (callbacks_of_python, vector),
    (callbacks_of_numpy, vector),
    (calls_of_scipy, vector),
    (threads_inside, vector),
]


@pytest.mark.parametrize(("fn", "make"), PROGRAMS, ids=lambda each: each.__name__)
def test_programs(fn, make):
    check(fn, make, seeds=SEEDS)
