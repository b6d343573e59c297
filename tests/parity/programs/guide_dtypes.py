"""Programs after NumPy's guide: dtypes, promotion, casting, byte order."""

import numpy as np

from tests.parity.program import integers, normal, positive, program

INTEGERS = ("int8", "uint16")


@program(integers, dtypes=("int16", "uint8"))
def promotion_between_arrays(n):
    wide = n + np.arange(len(n), dtype=np.int32)
    real = n * np.float32(0.5)
    double = n / 2
    return wide, real, double, n + np.ones(1, dtype=np.uint8), [a.dtype for a in (wide, real)]


@program(normal)
def python_numbers_are_weak(x):
    return x * 2, x + 1.5, x - True, 1j * x, 2**x, x * np.float64(2), x * np.float32(2)


@program(normal)
def casts_of_floats(x):
    y = 100 * x
    return y.astype(int), y.astype(np.int16), y.astype(bool), y.astype(np.float16), y.astype("f4")


@program(integers, dtypes=INTEGERS)
def wrap_around(n):
    big = n * 31
    return big, (big + 100).astype(np.int8), big.astype(np.uint8) >> 1, -n, n - 100


@program(integers, dtypes=("int8", "int16"))
def raises_for_a_number_that_does_not_fit(n):
    y = n + 1
    return y + 100_000


@program(integers, dtypes=("int64", "int32"))
def means_of_integers(n):
    return n.mean(), n.mean(dtype=np.float32), n.sum(dtype=np.int8), n / n.size, n // 2.0


@program(normal)
def questions_about_dtypes(x):
    if np.issubdtype(x.dtype, np.floating):
        limits = np.finfo(x.dtype)
        return x * limits.eps, limits.max, np.result_type(x, np.int8), np.can_cast(x.dtype, "f4")
    return x


@program(positive)
def swapped_bytes(x):
    big = x.astype(x.dtype.newbyteorder(">"))
    back = big.astype(x.dtype)
    return big, back, big.sum(), x.byteswap()


def big_endian(rng, shape, dtype):
    return (rng.normal(size=shape).astype(dtype.newbyteorder(">")),)


@program(big_endian)
def swapped_argument(x):
    y = x * 2
    return y.astype(y.dtype.newbyteorder("=")), y.dtype


@program(normal, dtypes=("complex128", "complex64"))
def complex_arguments(z):
    w = z * (1 + 2j)
    return w.real, np.abs(w), w.sum(), np.sqrt(z), (z == w).any()


@program(normal, dtypes=("float16",))
def half_precision(x):
    y = x * 3 + 1
    return y, y.sum(), np.exp(x), y.astype(np.float32) / 7


@program(normal)
def scalars_of_arrays(x):
    first, last = x[0], x[-1]
    total = first + last
    number = float(total) * 2
    return total, number, type(total).__name__, int(first * 10), total.dtype, x.tolist()[:2]


@program(integers, dtypes=("int64", "uint8"))
def flags_and_masks(n):
    high = (n & 1).astype(bool)
    packed = np.packbits(high)
    return packed, np.unpackbits(packed)[: len(n)], high.view(np.int8), high + high, high * n
