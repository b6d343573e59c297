"""Python and NumPy numbers as arguments, constants and results; the oracle is plain Python."""

import math

import numpy as np
import pytest

from tests.capture.behavior import check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def vector(rng):
    return (rng.normal(size=6) * 3,)


@program
def numbers_out_of_arrays(x):
    a = float(x[0])
    b = int(x[1] * 10)
    c = x[2].item()
    d = x.sum().item()
    return a * 2, b + 1, c - a, d, a + x, x * b, math.exp(c / 10), round(a, 2), abs(a), -b


@program
def numbers_of_numpy_types(x):
    return np.float32(x[0]) * x, np.float64(x[1]) + 1, np.int32(x[2] * 9), np.float32(x) + x


@program
def text_and_bytes_of_values(x):
    return "ab" * (int(abs(x[0])) + 1), x.tobytes(), np.array2string(x), repr(x), str(x[0])


@program
def the_class_of_a_power(x):
    n = int(x[0])
    return isinstance(2**n, int), type(2**n).__name__, 2**n


@program
def shapes_from_values(x):
    n = int(abs(x[0])) + 1
    y = np.zeros((n, 3))
    return x[:6].reshape(1 if n > 6 else 6 // (6 // n), -1).shape, y.shape, np.arange(n), [0] * n


@program
def dtypes_from_values(x):
    return np.min_scalar_type(int(abs(x[0]) * 100)), np.result_type(int(x[0]), x)


@program
def slices_from_values(x):
    n = int(abs(x[0])) % 5
    k = np.argmax(x)
    return x[n:], x[:k], x[k], x[-n], x[k : k + 1], list(range(n)), "ab" * n, x[k] + 1


@program
def big_integers(x):
    n = int(x[0] * 10)
    return n**30, n << 70, -n // 3, n % 7, bin(n), divmod(n, 5), n.bit_length(), hex(n)


@program
def reductions_by_builtins(x):
    return sum(x), max(x), min(x[0], x[1]), any(x > 1), all(x > -100), sorted(x)[0], len(x)


@program
def builtins_over_arrays(x):
    return (
        list(map(np.sin, [x, x + 1])),
        list(zip(x, x[::-1], strict=True))[0],
        list(enumerate(x))[1],
        list(reversed(x))[0],
        list(filter(lambda a: a > 0, x)),
        tuple(x[:2]) + (1,),
        x[0] in x,
        100.0 in x,
        divmod(x, 2),
        pow(x, 2),
        round(x[0]),
        abs(x),
        isinstance(x, np.ndarray),
    )


@program
def chained_comparisons(x):
    a = x.mean()
    return -1 < a < 1, (x > 0).all() and not (x > 5).any(), x.any() or None, 1 if x[0] else 2


@program
def comparisons_with_singletons(x):
    t = (x == x).all()
    return t is np.True_, t is True, x is None, x[0] is x[0], (x > 99).any() is np.False_, not t


@program
def formatting(x):
    a = x[0]
    return f"{x.mean():.3f} {x.shape} {a!r}", "%0.2f" % a, f"{a:.1f}", str(x), ",".join(map(str, x))


@program
def mixed_kinds_of_minimum(x):
    return max(int(x[0]), 2.5), type(min(x[0], 2)).__name__, min(3, 4, int(x[1]))


@program
def indexing_sequences_by_values(x):
    k = int(abs(x[0])) % 3
    return "abc"[k], (1, 2, 3)[k], [x, x + 1, x * 2][k], {0: "a", 1: "b", 2: "c"}[k]


@program
def math_functions(x):
    a = float(abs(x[0])) + 0.5
    return (
        math.sqrt(a),
        math.floor(x[1]),
        math.ceil(a),
        math.fsum(x),
        math.hypot(x[0], 2),
        math.isnan(a),
        math.pi * a,
        math.log(a) + math.sin(a),
        math.copysign(1, x[2]),
        math.prod([a, a]),
        math.trunc(a),
        math.isclose(a, a),
    )


@program
def negative_zero_and_nan(x):
    z = x * 0.0
    return (
        z * -1,
        -z,
        z + -0.0,
        np.copysign(1.0, -0.0 * x),
        x * float("nan"),
        x + float("inf"),
        0.0 - z,
    )


@program
def numbers_become_dict_keys(x):
    d = {}
    for a in np.round(x):
        d[int(a)] = d.get(int(a), 0) + 1
    return d, {float(x[0]): 1}, {int(a) for a in x}, frozenset([x[0]])


@program
def attributes_of_numbers(x):
    a = x[0]
    return a.dtype, a.shape, a.real, a.imag, a.T, a.size, a.ndim, float(a).real, a.is_integer()


@program
def methods_of_numbers(x):
    a, n = float(x[0]), int(x[1])
    return a.as_integer_ratio(), a.hex(), n.to_bytes(4, "big", signed=True), a.is_integer(), n.real


@program
def complex_numbers(x):
    c = complex(x[0], x[1])
    y = x * 1j
    return c * 2, abs(c), c.real, y, y.real, np.abs(y), np.exp(y), y.sum(), np.angle(c)


@program
def integer_powers_and_divisions(x):
    n = (x * 4).astype(int)
    return (
        n // 3,
        n % 3,
        n**2,
        -n // 2,
        n / 2,
        n << 1,
        n & 3,
        ~n,
        np.abs(n),
        n * 2.5,
        2 ** abs(n[0] % 5),
    )


@program
def weak_numbers_keep_the_dtype(x):
    y = x.astype(np.float32)
    return (
        y * 2,
        y + 1.5,
        y / 3,
        1 - y,
        y**2,
        y > 0.1,
        np.maximum(y, 0),
        y * np.float64(2),
        y * True,
    )


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs(fn):
    check(fn, vector)


@pytest.mark.parametrize("fn", PROGRAMS, ids=lambda fn: fn.__name__)
def test_programs_on_float32(fn):
    check(fn, lambda rng: ((rng.normal(size=6) * 3).astype(np.float32),), seeds=(0, 0, 1))


# -- numbers as arguments --------------------------------------------------------------------------
NUMBERS = {
    "float": [1.0, 1.0, 2.5, -0.0, 0.0, math.nan, math.inf, 1e300],
    "int": [1, 1, 2, 0, -3, 10**6, 2**40, 2**70],
    "bool": [True, True, False],
    "float64": [np.float64(1), np.float64(2), np.float64(-0.0)],
    "float32": [np.float32(1), np.float32(2), np.float32("nan")],
    "int8": [np.int8(1), np.int8(2), np.int8(-128)],
    "complex": [1j, 2 + 1j],
    "mixed": [
        1,
        1.0,
        True,
        np.float64(1),
        np.int64(1),
        None,
        np.float32(1),
        "1",
        1j,
        np.bool_(True),
    ],
}

NUMBER_PROGRAMS = []


def number_program(fn):
    NUMBER_PROGRAMS.append(fn)
    return fn


@number_program
def arithmetic_with_an_array(x, a):
    return x * a, a - x, x / a, x > a, np.maximum(x, a), x + a * 2


@number_program
def python_looks_at_it(x, a):
    if a == 0:
        return (x / a if not isinstance(a, float) or math.copysign(1, a) > 0 else -x), str(a)
    if a != a:
        return "nan"
    return x * a, {a: 1}, f"{a}"


@number_program
def it_is_returned(x, a):
    return a, [a], {"a": a}, type(a), isinstance(a, float), x.sum() * a


@number_program
def arithmetic_without_arrays(x, a):
    return a + 1, a * a, -a, a**2, abs(a), a == 1, 2 ** (a % 9), a // 2, a % 3


@number_program
def it_goes_into_arrays(x, a):
    y = x.copy()
    y[0] = a
    y[1:3] = a
    return y, np.full(3, a), np.array([a, 1.0]), np.where(x > 0, a, x), np.clip(x, -1, a)


@number_program
def it_is_a_shape_or_an_axis(x, a):
    return x[a], np.zeros(a).shape, x[:a], range(a)[0], np.arange(a)


@number_program
def after_a_write(x, a):
    x[0] = 5
    y = x * a
    b = 2 ** (a % 5 - 2)
    x[1] = b
    return y


@number_program
def int32_arrays_and_it(x, a):
    n = x.astype(np.int32)
    n[0] = 7
    return n * a, n + a


@pytest.mark.parametrize("kind", NUMBERS)
@pytest.mark.parametrize("fn", NUMBER_PROGRAMS, ids=lambda fn: fn.__name__)
def test_numbers_as_arguments(fn, kind):
    values = NUMBERS[kind]

    def make(rng):
        number = int(rng.integers(10**9))
        return rng.normal(size=4) * 3, values[ORDER[number] % len(values)]

    ORDER = {int(np.random.default_rng(seed).integers(10**9)): seed for seed in range(len(values))}
    seeds = tuple(seed for seed in range(len(values)) for _ in range(2))
    check(fn, make, seeds=seeds)


def test_an_integer_argument_that_nobody_looks_at_is_one_trace():
    def fn(x, t):
        return x + t

    decorated = check(fn, lambda rng: (rng.normal(size=3), int(rng.integers(99))), seeds=range(9))
    assert decorated.cache_info().traces == 1
    assert decorated.cache_info().hits == 8


def test_a_float_argument_of_several_uses_is_one_trace():
    def fn(x, t):
        return x + t * 2 - abs(t), t + 1

    decorated = check(fn, lambda rng: (rng.normal(size=3), rng.normal()), seeds=range(6))
    assert decorated.cache_info().misses <= 2


def test_a_weak_integer_that_does_not_fit_raises_after_a_write():
    def fn(x, t):
        x[0] = 5
        y = x.sum()
        x[1] = y
        return np.arange(3, dtype=np.int32) + t

    values = {0: 1, 1: 2**40, 2: 3}
    order = {np.random.default_rng(seed).normal(): seed for seed in values}
    check(
        fn,
        lambda rng: (np.zeros(3, np.int32), values[order[rng.normal()]]),
        seeds=(0, 0, 1, 1, 2, 0),
    )


def test_a_float_that_overflows_float32_warns_at_the_line():
    def fn(x, t):
        return x * t

    values = {0: 1.0, 1: 1e300, 2: 3.0}
    order = {np.random.default_rng(seed).normal(): seed for seed in values}
    check(
        fn,
        lambda rng: (np.ones(3, np.float32), values[order[rng.normal()]]),
        seeds=(0, 0, 1, 1, 2, 0),
    )


# -- facts that depend on values -------------------------------------------------------------------
FACTS = []


def fact_program(fn):
    FACTS.append(fn)
    return fn


@fact_program
def a_shape_by_a_value(x):
    return x[:6].reshape(int(x[0]), -1).shape


@fact_program
def tiles_pads_and_eyes(x):
    n = int(x[0])
    return np.tile(x, n).shape, np.pad(x, n).shape, np.resize(x, n).shape, np.eye(n).shape


@fact_program
def the_class_of_a_power_of_a_value(x):
    n = int(x[0]) - 3
    return isinstance(2**n, int), type(2**n).__name__


@fact_program
def the_least_dtype(x):
    return np.min_scalar_type(int(x[0]) * 100)


@fact_program
def lengths_of_selections(x):
    n = int(x[0])
    return len(x.repeat(n)), len(np.delete(x, x < 2)), np.trim_zeros(x - 1).size


@fact_program
def the_class_of_a_maximum(x):
    return type(max(int(x[0]), 2.5)).__name__, type(min(x[0], 2)).__name__


@fact_program
def splits_by_a_value(x):
    n = int(x[0])
    return [len(a) for a in np.array_split(x, n)], np.squeeze(np.zeros((n, 3))).shape


@fact_program
def sequences_by_a_value(x):
    n = int(x[0])
    return sorted([n, 3, 2]), [3, 2].index(n) if n in (2, 3) else 0, "abc"[n % 3], (1, 2, 3)[n % 3]


@fact_program
def sizes_of_masked_arrays(x):
    y = x[x > x[0]]
    return y.size, y.nbytes, np.size(y), np.shape(y), y.shape[0] * 2, np.zeros_like(y).shape


@fact_program
def shapes_that_follow_from_masks(x):
    y = x[x > x[0]]
    z = np.concatenate([y, x])
    w = np.where(z > 0)[0]
    return (
        z.shape,
        w.shape,
        z.reshape(-1).shape,
        np.outer(y, x).T.shape,
        y[::2].shape,
        (y + 1).shape,
    )


@fact_program
def a_dtype_by_a_value(x):
    y = x * (1j if x[0] > 3 else 1)
    return y.dtype.name, np.iscomplexobj(y), y.itemsize


@pytest.mark.parametrize("fn", FACTS, ids=lambda fn: fn.__name__)
def test_facts_that_depend_on_values_are_never_stale(fn):
    def make(rng):
        number = ORDER[int(rng.integers(10**9))]
        x = np.arange(8.0) * (1 if number % 2 else -1) + 1 + number % 5
        x[0] = 1 + number % 6
        return (x,)

    ORDER = {int(np.random.default_rng(seed).integers(10**9)): seed for seed in range(12)}
    check(fn, make, seeds=range(12))


def test_an_integer_that_does_not_fit_a_byte_raises_in_a_later_call():
    def fn(x, t):
        return x * t

    values = {0: 2, 1: 300, 2: -1, 3: 3}
    order = {np.random.default_rng(seed).normal(): seed for seed in values}
    for dtype in (np.uint8, np.int8, np.int32):
        make = lambda rng: (np.ones(3, dtype), values[order[rng.normal()]])
        check(fn, make, seeds=(0, 0, 1, 2, 3, 0))
