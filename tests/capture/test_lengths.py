"""Lengths that programs compute with. Oracles: the undecorated function, counts of recordings."""

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe

pytestmark = pytest.mark.sampled(3)


def halves(x):
    n = len(x)
    return x[: n // 2] * 2, x[n // 2 :].sum()


def mean_and_variance(x):
    n = len(x)
    mean = x.sum() / n
    return mean, ((x - mean) ** 2).sum() / (n - 1) if n > 1 else None


def scaled(x):
    n = x.shape[0]
    return x * (1 / n) + n if n else x


def columns(x):
    made = np.zeros((x.size, 3))
    made[:, 0] = x
    return made, np.empty(len(x)).shape, np.ones(x.shape, dtype=np.float32)


def counted(x):
    return np.arange(len(x)) * x, np.arange(1, x.size + 1), np.full(x.shape, 3.0)


def ends(x):
    return (x[len(x) - 1] + x[0], x[-1]) if len(x) else None


def odd_and_even(x):
    return x * 2 if len(x) % 2 else x + 1


def answers(x):
    n = len(x)
    same = x.shape == (n,)
    return n, x.shape, x.size, x.nbytes, isinstance(n, int), type(n) is int, same, f"{n} of {n!r}"


def pairs(x):
    n = len(x) // 2 * 2
    return x[:n].reshape(n // 2, 2).sum(axis=1), x[:n].reshape(-1, 2)[:, 0], x.reshape(-1, 1) * 2


def outer(x):
    return (x[:, None] * x).ravel() + 1, x.reshape(1, -1) * x.reshape(-1, 1)


def differences(x):
    out = np.empty(len(x))
    out[:1] = x[:1]
    out[1:] = x[1:] - x[:-1]
    return out


def at_most_ten(x):
    k = min(len(x), 10)
    return x[:k] * 2, x[len(x) - k :], max(k, 3)


def by_data(x):
    n = len(x)
    if x.sum() > n / 2:
        return x[: n // 2] + n
    return x * n


def writing(x):
    n = len(x)
    x[: n // 2] = 0
    if n and x[-1] > 0.5:
        x[n // 2] += n
    return x, x[n // 2 :].sum() / max(n, 1)


def a_fixed_place(x):
    return x[5] * 2, x[-6] + 1


def beyond_the_end(x):
    return x[len(x)]


def of_odd_length(x):
    return x.reshape(2, len(x) // 2) + 1


def windows(x):
    width = max(len(x) // 4, 1)
    return [x[start : start + width].sum() for start in range(3)]


def shifted(x):
    n, k = len(x), 3
    padded = np.zeros(n + 2 * k)
    padded[k : k + n] = x
    return padded[: n - k] if n > k else padded, padded[2 * k :] - padded[: -2 * k]


PROGRAMS = (
    *(halves, mean_and_variance, scaled, columns, counted, ends, odd_and_even, answers, pairs),
    *(outer, differences, at_most_ten, by_data, writing, a_fixed_place, beyond_the_end),
    *(of_odd_length, windows, shifted),
)
RAISING = (a_fixed_place, beyond_the_end, of_odd_length)


def lengths(count):
    rng = np.random.default_rng(count)
    return [5, 9, 17, 12, 100, 101, 0, 1, 2, 3, 0, 1, *map(int, rng.integers(0, 300, count))]


@pytest.mark.parametrize("program", PROGRAMS)
def test_calls_at_any_length_are_those_of_plain_python(program):
    decorated = runmat.jit(program)
    rng = np.random.default_rng(0)
    for n in lengths(60):
        x = rng.random(n) + 0.1
        compare(observe(program, (x.copy(),), {}), observe(decorated, (x,), {}))
    if program not in RAISING:
        assert decorated.cache_info().misses <= 16, decorated.cache_info()


@pytest.mark.parametrize("program", PROGRAMS)
def test_other_dtypes_and_strides(program):
    decorated = runmat.jit(program)
    rng = np.random.default_rng(1)
    for n in lengths(20):
        for x in (rng.random(n).astype(np.float32), rng.random(2 * n)[::2], rng.random(n)[::-1]):
            compare(observe(program, (x.copy(),), {}), observe(decorated, (x.copy(),), {}))
            strided = np.zeros(2 * n)[::2]
            strided[:] = x
            other = strided.base.copy()[::2]
            compare(observe(program, (other,), {}), observe(decorated, (strided,), {}))


def sorted_halves(x):
    y = np.sort(x)
    return y[: len(y) // 2] * 2, y, x.argsort() + 1


def running_sums(x):
    return np.cumsum(x) / max(len(x), 1), x.cumsum()[-1:] + 1


def bytes_of_it(x):
    levels = (x * 200).astype(np.uint8)
    return 255 - levels, levels.astype(float) * 2, (levels > 100).sum()


def products(x):
    table = x[:, None] * x
    return table @ x, (table @ table).sum()


def complex_numbers(x):
    z = x * 1j
    return np.abs(z) + 1, z.conj(), np.power(x, x) + x


def sorted_and_written(x):
    y = np.sort(x)
    y[: len(y) // 2] = 0
    x[:] = y
    return y.sum(), x * 2


def sorted_and_decided(x):
    y = np.sort(x)
    if y.sum() > len(x) / 2:
        return y * 2
    return y[::-1] + np.cumsum(y)


def of_another_shape(x):
    return np.cumsum(x.reshape(-1, 2)) + 1 if len(x) % 2 == 0 else np.sort(x, axis=None)


HOSTED = (
    *(sorted_halves, running_sums, bytes_of_it, products, complex_numbers, sorted_and_written),
    *(sorted_and_decided, of_another_shape),
)


@pytest.mark.parametrize("program", HOSTED)
def test_arrays_that_numpy_makes_have_the_shapes_that_laws_tell(program):
    decorated = runmat.jit(program)
    rng = np.random.default_rng(4)
    for n in lengths(60):
        x = rng.random(n) + 0.1
        compare(observe(program, (x.copy(),), {}), observe(decorated, (x,), {}))
    if program is not of_another_shape:
        assert decorated.cache_info().misses <= 16, decorated.cache_info()


def gram(x):
    rows, columns = x.shape
    centered = x - x.sum(axis=0) / rows
    return (
        centered[: rows // 2] * columns,
        np.zeros((columns, rows)),
        x.size / 2,
        x.T[: columns - 1],
    )


def flattened(x):
    rows, columns = x.shape
    return x.reshape(rows * columns) * 2, x.reshape(columns, rows)[0], x.ravel()[: x.size // 2] + 1


@pytest.mark.parametrize("program", [gram, flattened])
def test_matrices_of_any_shape(program):
    decorated = runmat.jit(program)
    rng = np.random.default_rng(2)
    for _ in range(80):
        rows, columns = map(int, rng.integers(2, 40, 2))
        x = rng.random((rows, columns))
        compare(observe(program, (x,), {}), observe(decorated, (x,), {}))
    assert decorated.cache_info().misses <= 16, decorated.cache_info()


def test_two_arrays_of_lengths_of_their_own():
    def program(x, y):
        n = min(len(x), len(y))
        if len(x) > len(y):
            return x[:n] + y[:n], len(x) - len(y)
        return x[:n] - y[:n], n / (len(x) + len(y))

    decorated = runmat.jit(program)
    rng = np.random.default_rng(3)
    for _ in range(120):
        x, y = (rng.random(n) for n in rng.integers(2, 60, 2))
        compare(observe(program, (x, y), {}), observe(decorated, (x, y), {}))
    assert decorated.cache_info().misses <= 30, decorated.cache_info()


def test_verified_calls_agree(monkeypatch):
    before = runmat.config().verify if hasattr(runmat.config(), "verify") else None
    if before is None:
        pytest.skip("calls are verified by a variable of the environment alone")
    runmat.config(verify=2)
    try:
        for program in (halves, by_data, writing, counted):
            decorated = runmat.jit(program)
            for n in lengths(10):
                x = np.random.default_rng(n).random(n) + 0.1
                compare(observe(program, (x.copy(),), {}), observe(decorated, (x,), {}))
    finally:
        runmat.config(verify=before)
