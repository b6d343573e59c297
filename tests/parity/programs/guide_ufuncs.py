"""Programs after NumPy's guide: universal functions and their methods."""

import numpy as np

from tests.parity.program import integers, normal, positive, program, two_normal

TABLES = ((3, 8), (12, 7))


@program(normal)
def trigonometry(x):
    s, c = np.sin(x), np.cos(x)
    t = np.tan(x / 4)
    return s * s + c * c, t, np.hypot(s, c), np.arctan2(s, c), np.deg2rad(x) + np.degrees(c)


@program(positive)
def exponentials_and_logarithms(x):
    a = np.exp(x) - np.expm1(x)
    b = np.log(x) + np.log1p(x) + np.log2(x) + np.log10(x)
    return a, b, np.exp2(x), np.logaddexp(x, -x)


@program(normal)
def hyperbolic_and_inverse(x):
    y = np.sinh(x) / np.cosh(x) + np.tanh(x)
    back = np.arcsinh(np.sinh(x))
    inside = np.clip(x, -0.9, 0.9)
    return y, back, np.arctanh(inside), np.arcsin(inside), np.arccos(inside)


@program(positive)
def powers_and_roots(x):
    cube = x**3
    root = np.cbrt(cube)
    return cube, root, x**-1.5, np.power(2, x), np.float_power(x, 2), x**0.5 - np.sqrt(x)


@program(normal)
def rounding_modes(x):
    y = 3.7 * x
    return np.floor(y), np.ceil(y), np.trunc(y), np.rint(y), np.round(y, 2), np.fix(y)


@program(two_normal)
def parts_of_numbers(x, y):
    fraction, whole = np.modf(3 * x)
    mantissa, exponent = np.frexp(y)
    quotient, rest = np.divmod(x, 0.3)
    return fraction + whole, np.ldexp(mantissa, exponent), quotient, rest


@program(two_normal)
def comparisons_and_logic(x, y):
    near = np.isclose(x, y, atol=0.5)
    either = np.logical_or(x > 0, y > 0) & ~near
    return near, either, np.logical_xor(x < y, either), np.allclose(x, x + 1e-12)


@program(two_normal)
def floating_point_neighbors(x, y):
    up = np.nextafter(x, y)
    return up - x, np.spacing(x), np.signbit(x), np.copysign(y, x), np.fmod(x, 0.7)


@program(integers, dtypes=("int64", "int32"))
def integer_arithmetic(n):
    floor, rest = n // 4, n % 4
    negative = np.floor_divide(-n, 3)
    common = np.gcd(n, 6)
    return floor * 4 + rest == n, negative, common, np.lcm(n, 4), np.sign(n), n**2


@program(integers, dtypes=("int64", "uint8"))
def bit_tricks(n):
    low = n & 0b111
    shifted = (n << 2) >> 1
    flipped = ~n ^ low
    return low | 8, shifted, flipped, np.bitwise_count(n), n & -n if n.dtype.kind == "i" else n


@program(normal, shapes=TABLES)
def reduce_with_axes(table):
    total = np.add.reduce(table)
    product = np.multiply.reduce(table, axis=1)
    largest = np.maximum.reduce(table, axis=None)
    every = np.logical_and.reduce(table > -3, axis=0, keepdims=True)
    return total, product, largest, every


@program(normal, shapes=TABLES)
def accumulate_along_axes(table):
    running = np.add.accumulate(table, axis=1)
    peak = np.maximum.accumulate(table, axis=0)
    growth = np.multiply.accumulate(1 + table[0] / 10)
    return running, peak, growth


@program(normal)
def multiplication_table(x):
    n = np.arange(1, 6)
    table = np.multiply.outer(n, n)
    differences = np.subtract.outer(x[:4], x[:3])
    return table, differences, np.power.outer(n, [1, 2])


@program(normal)
def sums_of_segments(x):
    starts = np.array([0, 3, 5, 8])
    return np.add.reduceat(x, starts), np.maximum.reduceat(x, starts[::2])


@program(lambda rng, shape, dtype: (rng.normal(size=shape).astype(dtype), rng.integers(0, 4, 20)))
def unbuffered_updates(x, where):
    counts = np.zeros(4, dtype=np.int64)
    np.add.at(counts, where, 1)
    np.subtract.at(x, where, 0.5)
    np.negative.at(x, [0, 1])
    return counts, x.sum()


@program(normal)
def composed_polynomial(x):
    y = np.zeros_like(x)
    for coefficient in (0.5, -1.0, 2.0, 0.25):
        y = y * x + coefficient
    return y


@program(normal)
def activation_functions(x):
    relu = np.maximum(x, 0)
    leaky = np.where(x > 0, x, 0.01 * x)
    sigmoid = 1 / (1 + np.exp(-x))
    softplus = np.log1p(np.exp(-np.abs(x))) + relu
    return leaky, sigmoid, softplus, np.heaviside(x, 0.5), np.sinc(x)


@program(normal)
def vectorized_python_function(x):
    def classify(value):
        return 1 if value > 0.5 else -1 if value < -0.5 else 0

    return np.vectorize(classify)(x), np.frompyfunc(abs, 1, 1)(x[:3])


@program(normal)
def complex_numbers(x):
    z = x + 1j * x[::-1]
    w = np.exp(1j * x)
    return np.abs(z), np.angle(w), z.conj() * z, z.real - z.imag, w / (z + 2)
