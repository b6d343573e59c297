"""Single complex numbers in native loops. Oracle: plain Python, to the bit, in everything seen."""

import random

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, observe
from tests.capture.plain_hooks import function_from
from tests.loops.test_programs import both, give


def numbers(n, dtype=complex, seed=0):
    def make():
        rng = np.random.default_rng(seed)
        return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)

    return make


def mandelbrot(n, most):
    out = np.zeros((n, n), int)
    for i in range(n):
        for j in range(n):
            c, z = complex(-2 + 3 * j / n, -1.2 + 2.4 * i / n), 0j
            for _ in range(most):
                if abs(z) > 2:
                    break
                z = z * z + c
                out[i, j] += 1
    return out


def julia(z0, c, most):
    out = np.zeros(z0.shape, int)
    for i in range(len(z0)):
        z, k = z0[i], 0
        while z.real * z.real + z.imag * z.imag < 4 and k < most:
            z = z * z + c
            k += 1
        out[i] = k
    return out, z


def horner(a, z):
    s = 0j
    for i in range(len(a)):
        s = s * z + a[i]
    return s


def newton(n):
    out = np.zeros(n, complex)
    for i in range(n):
        z = complex(i / n + 0.01, 0.5)
        for _ in range(9):
            z = z - (z**3 - 1) / (3 * z**2)
        out[i] = z
    return out, z


def rotated(x, out):
    p = 1 + 0j
    for i in range(len(x)):
        p *= 0.6 + 0.8j
        out[i] = x[i] * p
        out[i] += p.conjugate() - x[i].real
        x[i] = -x[i]
    return p, p.imag, out


def step(z, w):
    return z * w if z.real > 0 else z + w


def by_helper(a, w):
    z = a[0]
    for i in range(1, len(a)):
        z = step(z, w) + a[i]
        if z == w or z != a[0]:
            z = a[0]
    return z


def of_several_classes(a, n):
    s = 1j
    for i in range(n):
        s = 2 * s + a[i]
        s = s / (1 + a[i].imag)
    return s, type(s).__name__


CASES = [
    (mandelbrot, (give(12), give(30))),
    (julia, (numbers(40), give(-0.4 + 0.6j), give(50))),
    (horner, (numbers(50), give(0.3 - 0.2j))),
    (newton, (give(20),)),
    (by_helper, (numbers(30), give(0.6 + 0.8j))),
    (rotated, (numbers(30), numbers(30, seed=1))),
    (of_several_classes, (numbers(30), give(12))),
    (of_several_classes, (numbers(30, np.complex64), give(12))),
    (rotated, (numbers(30, np.complex64), numbers(30, np.complex64, 1))),
]


@pytest.mark.parametrize(("fn", "makes"), CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_programs(fn, makes, natively):
    both(fn, *makes, natively=natively)


def of_zero(a):
    s = 1j
    for i in range(len(a)):
        s = s / (a[i].real - a[i].real.item() + 0j)
    return s


def by_zero(n):
    z = 1 + 1j
    for i in range(n):
        z = z / (z - z if i == 5 else z + 1)
    return z


def too_large(n):
    z, s = 1e300 + 1e300j, 0.0
    for _ in range(n):
        s += abs(z)
        z = z * 10
    return s


def power_too_large(n):
    z = 1e100 + 1e100j
    for _ in range(n):
        z = z**2
    return z


def compared_by_size(n):
    z, s = 1j, 0
    for _ in range(n):
        if z < 2j:
            s += 1
    return s


def into_reals(x, z):
    for i in range(len(x)):
        x[i] = z
    return x


def reported(a):
    s = np.complex128(1e200 + 1e200j)
    for i in range(len(a)):
        s = s * s + a[i]
    return s


@pytest.mark.parametrize(
    ("fn", "makes"),
    [
        (by_zero, (give(9),)),
        (too_large, (give(60),)),
        (power_too_large, (give(9),)),
        (compared_by_size, (give(9),)),
        (into_reals, (lambda: np.ones(5), give(2 + 1j))),
        (reported, (numbers(9),)),
        (of_zero, (numbers(9),)),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_python_raises_and_numpy_reports(fn, makes):
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected = observe(fn, tuple(make() for make in makes), {})
        compare(expected, observe(decorated, tuple(make() for make in makes), {}), exact=True)


# -- random loops ----------------------------------------------------------------------------------
class Writer:
    """Writes a loop of complex numbers, of Python's and of NumPy's."""

    def __init__(self, seed):
        self.rng = random.Random(seed)  # noqa: S311  (nothing is secret)
        self.wild = self.rng.random() < 0.3

    def atom(self):
        return self.rng.choice(
            [
                *("z", "w", "a[i]", "b[i]", "x[i]", "c", "r", "i", "2", "0.5", "1j", "(1 - 2j)"),
                *("a[-1]", "complex(x[i], r)", "z.real", "w.imag", "z.conjugate()", "np.conj(w)"),
            ]
        )

    def expression(self, depth=2):
        if depth == 0 or self.rng.random() < 0.25:
            return self.atom()
        kind, one = self.rng.random(), self.expression(depth - 1)
        if kind < 0.75:
            op = self.rng.choice(["+", "-", "*", "*", *(["/"] if self.wild else [])])
            return f"({one} {op} {self.expression(depth - 1)})"
        if kind < 0.85:
            other = self.expression(depth - 1)
            return self.rng.choice([f"(-{one})", f"({one} if {self.condition()} else {other})"])
        return f"(z ** {self.rng.choice([2, 3, 4])})" if self.wild else f"abs({self.atom()})"

    def condition(self):
        return self.rng.choice(
            [
                *(f"{self.atom()} == {self.atom()}", f"{self.atom()} != {self.atom()}"),
                *("x[i] > r", "i % 3 == 1", "abs(z) > 3", "z.real < 0"),
            ]
        )

    def statement(self, indent):
        kind = self.rng.random()
        target = self.rng.choice(["z", "w", "z", "a[i]", "b[i]", "a[0]"])
        if kind < 0.6:
            op = self.rng.choice(["=", "+=", "-=", "*="])
            return [f"{indent}{target} {op} {self.expression()}"]
        if kind < 0.7:
            return [f"{indent}z, w = w, {self.expression(1)}"]
        if kind < 0.8:
            return [f"{indent}r = {self.rng.choice(['abs(z)', 'z.imag', 'x[i]', 'r + 1'])}"]
        lines = [f"{indent}if {self.condition()}:", *self.statement(indent + "    ")]
        if self.rng.random() < 0.4:
            lines += [f"{indent}else:", *self.statement(indent + "    ")]
        return lines

    def program(self):
        body = [line for _ in range(self.rng.randint(2, 4)) for line in self.statement(" " * 8)]
        if self.rng.random() < 0.3:
            body = [f"        for k in range({self.rng.choice(['3', 'i'])}):"] + [
                "    " + line for line in body
            ]
        shrink = "        z = z * 0.25"
        start = self.rng.choice(["0j", "1 + 1j", "c", "a[0]"])
        head = ["def f(a, b, x, c):", f"    z, w, r = {start}, 1j, 0.5"]
        return "\n".join(
            [*head, "    for i in range(len(x)):", *body, shrink, "    return z, w, r, a, b"]
        )


def arguments(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    dtypes = [complex, np.complex64] if seed % 5 == 0 else [complex, complex]
    a, b = ((rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(d) for d in dtypes)
    if seed % 3 == 0:
        a[rng.integers(0, n)] = rng.choice([np.nan, np.inf, 0, 1e300, -0.0])
    return a, b, rng.standard_normal(n), complex(*rng.standard_normal(2))


def check(seed):
    text = Writer(seed).program() + "\n"
    fn = function_from(text, np=np)
    decorated = runmat.jit(fn)
    for _ in range(3):
        expected = observe(fn, arguments(seed), {})
        compare(expected, observe(decorated, arguments(seed), {}), exact=True)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("first", range(0, 80, 8))
def test_random_loops(first):
    for seed in range(first, first + 8):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 2000, 50))
def test_many_random_loops(first):
    for seed in range(first, first + 50):
        check(seed)
