"""Functions that are defined within the function whose loop calls them. Oracle: undecorated Python,
for other values at each call, in recordings and in plain calls."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe

pytestmark = pytest.mark.sampled(2)


def reads_a_number(x, c):
    def f(t):
        return t * t * 0.5 + c

    s = 0.0
    for i in range(len(x)):
        s += f(x[i])
    return s


def reads_a_computed_number(x, c):
    c = c * 2 + x[0]
    f = lambda t: t * 0.5 - c
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = f(x[i]) + f(i)
    return y


def reads_an_array(x, c):
    w = x * c

    def f(i):
        return w[i] + w[i - 1]

    s = 0.0
    for i in range(len(x)):
        s = s * 0.5 + f(i)
    return s


def sees_what_the_loop_stores(x, c):
    y = np.zeros(len(x))

    def before(i):
        return y[i - 1] * c * 0.01

    for i in range(1, len(x)):
        y[i] = before(i) + x[i]
    return y


def whole_arrays(x, c):
    def slope(y, t):
        return -c * y + np.sin(t) * x

    y = x.copy()
    for i in range(60):
        k1 = slope(y, i * 0.1)
        k2 = slope(y + 0.05 * k1, i * 0.1 + 0.05)
        y = y + 0.1 * k2
    return y


def of_two_levels(x, c):
    def inner(t):
        return t + c

    def outer(t):
        return inner(t) * inner(t + 1)

    s = 0.0
    for v in x:
        s = s * 0.5 + outer(v)
    return s


def until_it_converges(x, c):
    def f(t):
        return np.exp(t / 10) - c

    x0, x1 = x[0], x[0] + 1
    f0, f1, count = f(x0), f(x1), 0
    while abs(f1) > 1e-9 and count < 100:
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
        f0, f1 = f1, f(x1)
        count += 1
    return x1, count


def of_a_module(x, c):
    def f(t):
        return np.minimum(t, LIMIT) * c + helper(t)

    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
    return s


LIMIT = 0.5


def helper(t):
    return t * 0.25


NATIVE = [
    reads_a_number,
    reads_a_computed_number,
    reads_an_array,
    sees_what_the_loop_stores,
    whole_arrays,
    of_two_levels,
    until_it_converges,
    of_a_module,
]


def the_loop_binds_what_it_reads(x, c):
    def f(t):
        return t * c

    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
        c = c + 0.125
    return s


def bound_between_loops(x, c):
    def f(t):
        return t * c

    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
    c = c + 1
    for v in x:
        s = s * 0.5 + f(v)
    return s


def bound_by_a_loop_around(x, c):
    def f(t):
        return t * c

    s = 0.0
    for k in range(3):
        c = c + k
        for v in x:
            s = s * 0.5 + f(v)
    return s


def counts_its_calls(x, c):
    calls = 0

    def f(t):
        nonlocal calls
        calls += 1
        return t * c

    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
    return s, calls


def of_other_classes(x, c):
    scale = {"a": c}
    f = lambda t: t * scale["a"]
    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
    return s


def unbound_at_first(x, c):
    def f(t):
        return t * later

    s = 0.0
    for v in x[: int(c) * 0]:
        s = s + f(v)
    later = c
    for v in x:
        s = s * 0.5 + f(v)
    return s


def maker(c):
    def f(t):
        return t * c

    return f


def made_elsewhere(x, c):
    c, f = c * 2, maker(c)
    s = 0.0
    for v in x:
        s = s * 0.5 + f(v) + c
    return s


def one_of_two_in_a_line(x, c):
    fs = (lambda t: t * c, lambda t: t + c)
    f = fs[int(c) % 2]
    s = 0.0
    for v in x:
        s = s * 0.5 + f(v)
    return s


OTHERS = [
    the_loop_binds_what_it_reads,
    bound_between_loops,
    bound_by_a_loop_around,
    counts_its_calls,
    of_other_classes,
    unbound_at_first,
    made_elsewhere,
    one_of_two_in_a_line,
]


@pytest.mark.parametrize("way", ["first call", "hot"])
@pytest.mark.parametrize("fn", [*NATIVE, *OTHERS], ids=lambda fn: fn.__name__)
def test_inner_functions_read_the_variables_of_now(fn, way, monkeypatch):
    decorated = runmat.jit(fn, compile=way)
    for call in range(12):
        x = np.random.default_rng(call).random(900 + call)
        c = (2.5 + call, np.float64(1.5 + call), 3 + call, np.float32(call))[call % 4]
        exact = fn is not whole_arrays  # sines are ours
        compare(observe(fn, (x, c), {}), observe(decorated, (x.copy(), c), {}), exact=exact)
    if fn is made_elsewhere:  # a global that is another one
        other = lambda c: lambda t: t - c
        monkeypatch.setitem(fn.__globals__, "maker", other)
        compare(observe(fn, (x, c), {}), observe(decorated, (x.copy(), c), {}))


@pytest.mark.parametrize("fn", NATIVE, ids=lambda fn: fn.__name__)
def test_they_run_natively(fn, natively):
    decorated = runmat.jit(fn)
    for call in range(3):
        decorated(np.random.default_rng(call).random(900), 2.5)
    assert natively() >= 3
