"""Complex numbers in captured functions. Oracle: the undecorated function.

Random programs of them stand in ``test_random_programs``, formulas in ``tests/ops/test_parts``.
"""

import itertools
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import check, compare, observe


def arithmetic(z, w, x):
    return (z * w + x) / (1 - 2j) - np.conj(w) * 2, z**2 - w**3, -z, +w, z.conj() * x


def parts(z, w, x):
    return z.real * w.imag, np.real(z) + np.imag(w), z.real[::2], (z * w).imag.copy()


def written_parts(z, w, x):
    z.real *= 2
    z.imag[1:] = w.real[:-1]
    v = z + w
    v.real = x
    v[::2].imag -= 1
    return v, z


def moved(z, w, x):
    return np.concatenate([z, w * 2]), z[::-1] + 1, np.stack([z, w]).T * 1j, (z + x)[1:-1]


def chosen(z, w, x):
    v = np.where(x > 0, z, w * 2)
    v[x > 1] = 0
    v[x < -1] = 2 - 1j
    return v, z == w, z != v, np.isfinite(z / x), np.isnan(w)


def taken(z, w, x):
    index = np.argsort(x)
    return z[index] + w, (z * w)[index]


def created(z, w, x):
    v = np.zeros(z.shape, dtype=complex)
    v[1:] = z[:-1]
    v += w
    return v, np.ones_like(z) * x, np.full(3, 1j), x.astype(np.complex64), z.astype("c8") * 2


def transformed(z, w, x):
    spectrum = np.fft.fft(z)
    spectrum[3:] *= 0.5
    return np.abs(np.fft.ifft(spectrum * np.conj(spectrum)))


def summed(z, w, x):
    return (z * w.conj()).sum(), z.mean(), np.sum(z.reshape(2, -1), axis=0), z.sum() * 2


def functions(z, w, x):
    return np.exp(1j * x), np.exp(z), np.abs(z), abs(w) ** 2, np.angle(z * w)


def of_numbers_of_the_call(z, w, x):
    return z * w[0] + x[0], z / complex(2, x.size)


def numbers_of_two_classes(z, w, x):
    for k, number in enumerate((1, 2j, 0.5, 3 - 1j, np.complex128(1j), x.max())):
        z[k] = number
        w = w * z[k] + number
    return z, w


def unfolded(z, w, x):
    for _ in range(5):
        z = z * z + w
        z = np.where(np.abs(z) < 2, z, 0)
    return z


EXACT = (arithmetic, parts, written_parts, moved, chosen, taken, created)
EXACT += (of_numbers_of_the_call, numbers_of_two_classes)
CLOSE = (transformed, summed, functions, unfolded)


def made(rng, dtype="c16", n=12):
    z, w = (rng.standard_normal(n) + 1j * rng.standard_normal(n) for _ in range(2))
    return z.astype(dtype), w.astype(dtype), rng.standard_normal(n).astype(z.real.dtype)


@pytest.mark.parametrize("fn", EXACT, ids=lambda fn: fn.__name__)
def test_arithmetic_and_movement_have_numpys_bits(fn):
    check(fn, made, exact=True)


@pytest.mark.parametrize("fn", CLOSE, ids=lambda fn: fn.__name__)
def test_functions_and_sums_are_close(fn):
    check(fn, made)


@pytest.mark.parametrize("fn", [*EXACT, *CLOSE], ids=lambda fn: fn.__name__)
def test_single_precision(fn):
    check(fn, lambda rng: (*made(rng, "c8")[:2], rng.standard_normal(12).astype("f4")))


@pytest.mark.parametrize("n", [0, 1, 2, 31, 1001])
def test_any_length(n):
    check(parts, lambda rng: made(rng, n=n))
    check(lambda z, w, x: (z * w - x, z.sum()), lambda rng: made(rng, n=n))


def test_columns_and_transposed_matrices():
    def make(rng):
        z = rng.standard_normal((6, 6)) + 1j * rng.standard_normal((6, 6))
        return z, np.asfortranarray(z[::-1])

    check(lambda z, w: (z.T * w + z[0], (z * 2).real[:, 1:].T - 1), make, exact=True)


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_numbers_of_calls_are_data_whatever_their_class(dtype):
    def fn(z, c):
        return z * c + 1, (z - c) / c, c * 2

    decorated = runmat.jit(fn)
    (z, _, _), numbers = made(np.random.default_rng(0), dtype), (0.5 - 1j, 2.0, 3, np.float32(0.5))
    numbers += (np.complex128(1j), np.complex64(2 - 1j), complex(np.nan, np.inf), 1e300 + 1j)
    for _ in range(5):
        for number in numbers:
            compare(observe(fn, (z, number), {}), observe(decorated, (z, number), {}), exact=True)
    for _ in range(40):
        decorated(z, 1 + 1j)
    before = runmat.telemetry.snapshot()
    decorated(z, 7 - 3j)
    after = runmat.telemetry.snapshot()
    assert after["kernels_compiled"] == before["kernels_compiled"]
    assert after["calls_recorded"] == before["calls_recorded"]


def test_a_chain_is_one_kernel_for_every_length():
    decorated = runmat.jit(lambda z, w: (z * w + z) * np.conj(w) - 2j * z)
    rng = np.random.default_rng(1)
    for n in (64, 64, 100, 1000):
        decorated(*made(rng, n=n)[:2])
    before = runmat.telemetry.snapshot()
    z, w, _ = made(rng, n=777)
    decorated(z, w)
    after = runmat.telemetry.snapshot()
    assert after["kernel_launches"] - before["kernel_launches"] == 1
    assert after["kernels_compiled"] == before["kernels_compiled"]


def loses_a_part(z, x):
    x[...] = z
    return x


def loses_a_part_by_itself(z, x):
    return z.astype(float), x.astype(complex)


def cannot_be_ordered(z, x):
    return np.maximum(z, x), np.sort(z)


def goes_into_reals(z, x):
    x += z
    return x


@pytest.mark.parametrize(
    "fn",
    [loses_a_part, loses_a_part_by_itself, cannot_be_ordered, goes_into_reals],
    ids=lambda fn: fn.__name__,
)
def test_what_numpy_warns_of_or_refuses(fn):
    check(fn, lambda rng: (made(rng)[0], rng.standard_normal(12)))


SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324, 2.0)


@pytest.mark.parametrize(
    "fn",
    [
        lambda z, w: z * w,
        lambda z, w: z / w,
        lambda z, w: np.reciprocal(w),
        lambda z, w: z**2 + w,
        lambda z, w: z**5,
    ],
    ids=["product", "quotient", "reciprocal", "square", "power"],
)
def test_events_are_numpys_in_every_mode_of_noting_them(fn):
    """A division reports a NaN that it compares; later calls note events in another way."""
    decorated = runmat.jit(fn)
    for re, im in itertools.product(SPECIAL, SPECIAL):
        z, w = np.full(3, 1 + 1j), np.full(3, 2 - 1j)
        z.real[1], z.imag[1], w.real[2], w.imag[2] = re, im, im, re
        compare(observe(fn, (z, w), {}), observe(decorated, (z, w), {}), exact=True)


def test_errors_are_raised_where_errstate_says_so():
    decorated = runmat.jit(lambda z: z / (z - z))
    z = np.ones(4, complex)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        decorated(z)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide"):
        decorated(z)


@pytest.mark.sampled(2)
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("fn", [*EXACT, *CLOSE], ids=lambda fn: fn.__name__)
def test_devices(fn, dtype):
    """Arrays of NumPy's and of ours; what an adapter does not know stays on the CPU."""
    relative = 1e-5 if dtype == "c8" else 1e-12
    plain, arrays = runmat.jit(fn, device="gpu"), runmat.jit(fn)
    for seed in (0, 0, 1):
        expected = fn(*made(np.random.default_rng(seed), dtype))
        found = plain(*made(np.random.default_rng(seed), dtype))
        resident = arrays(
            *(
                runmat.asarray(each, device="gpu")
                for each in made(np.random.default_rng(seed), dtype)
            )
        )
        for results in (found, resident):
            pairs = zip(tupled(expected), tupled(results), strict=True)
            for theirs, ours in pairs:
                assert np.asarray(ours).dtype == theirs.dtype
                np.testing.assert_allclose(np.asarray(ours), theirs, relative, relative)


def tupled(value):
    return value if isinstance(value, tuple) else (value,)
