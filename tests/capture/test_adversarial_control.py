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


# -- functions -------------------------------------------------------------------------------------
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
    (indices_that_may_be_out_of_range, vector_and_index),
    (index_arrays_that_may_be_out_of_range, indices_and_vector),
    (raises_after_a_write, vector),
    (error_states_inside, vector),
    (patterns, vector),
    (many_ways, vector_and_number),
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
