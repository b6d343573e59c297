"""Runs one expansion over arrays, natively: what the tests of expansions evaluate."""

import ctypes
from functools import cache

import numpy as np

from runmat_jit.backends.llvm.backend import LlvmBackend
from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.evaluate import DTYPES
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.ir import Table
from runmat_jit.kernel.math.tables import table
from runmat_jit.kernel.verify_kernel import verify_kernel

FLOATS = {"f32": np.float32, "f64": np.float64}
FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@cache
def backend(target=None):
    return LlvmBackend(Jit(), target)


def kernel_of(expand, kinds, result):
    """``out[i] = expand(k, x0[i], x1[i], ...)`` for value types ``kinds``."""
    k = Builder()
    inputs = [k.buffer(f"x{j}", _element(kind)) for j, kind in enumerate(kinds)]
    out = k.buffer("out", _element(result), written=True)
    n = k.scalar("n", "index")
    with k.lanes(0, n) as lanes:
        k.store(out, lanes.i, expand(k, *(k.load(x, lanes.i) for x in inputs)))
    kernel = k.finish()
    verify_kernel(kernel)
    return kernel


def _element(kind):
    return "bool" if kind == "i1" else kind


class Expansion:
    """The compiled expansion, called with arrays (which it converts to its types)."""

    def __init__(self, expand, kinds, result, target=None):
        self.kinds, self.result = kinds, DTYPES[result]
        self.kernel = kernel_of(expand, kinds, result)
        self.tables = {p.name: table(p.name) for p in self.kernel.parameters if type(p) is Table}
        self.call = FUNCTION(backend(target).compile(self.kernel).address)

    def arguments(self, arrays):
        inputs = [np.array(x, DTYPES[kind]) for x, kind in zip(arrays, self.kinds, strict=True)]
        named = {f"x{j}": x for j, x in enumerate(inputs)}
        return {**named, **self.tables, "out": np.empty(inputs[0].size, self.result)}

    def __call__(self, *arrays):
        arguments = self.arguments(arrays)
        n = arguments["out"].size
        words = [n if p.name == "n" else _address(arguments, p) for p in self.kernel.parameters]
        event = ctypes.c_int64(0)
        block = (ctypes.c_int64 * (len(words) + 1))(*words, ctypes.addressof(event))
        self.call(ctypes.addressof(block), 0, n)
        return arguments["out"]

    def interpreted(self, *arrays):
        """The same by the interpreter of kernels."""
        arguments = self.arguments(arrays)
        interpret(self.kernel, {**arguments, "n": arguments["out"].size})
        return arguments["out"]


def _address(arguments, parameter):
    return arguments[parameter.name].ctypes.data


@cache
def compiled(expand, kinds, result=None):
    return Expansion(expand, kinds, result or kinds[0])


def same(got, expected):
    """Which elements have equal bits; all NaN are one."""
    if got.dtype.kind != "f":
        return got == expected
    equal = (got == expected) & (np.signbit(got) == np.signbit(expected))
    return equal | (np.isnan(got) & np.isnan(expected))


def differing(got, expected, *inputs):
    """The first few elements that are not the same, for a message."""
    rows = zip(got, expected, *inputs, strict=True)
    return [r for r, equal in zip(rows, same(got, expected), strict=True) if not equal][:5]


def exact_values(numpy, got, *inputs):
    """NumPy's results where they are 0, infinite or NaN; ``got`` where they are rounded."""
    with np.errstate(all="ignore"):
        theirs = numpy(*inputs)
    exact = np.isin(np.abs(theirs), [0, np.inf]) | np.isnan(theirs)
    return np.where(exact, theirs, got).astype(got.dtype)


def any_bits(rng, dtype, n):
    """Floats or integers of random bits: all exponents, subnormals, infinities and quiet NaN."""
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    x = rng.integers(0, 2**64, n, np.uint64, endpoint=False).astype(unsigned).view(dtype)
    return np.where(np.isnan(x), np.array(np.nan, dtype), x) if x.dtype.kind == "f" else x


def around(points, dtype, count=20):
    """The nearest neighbors of each point, on both sides."""
    centers = np.asarray(points, dtype)
    signed = np.dtype(f"i{centers.itemsize}")
    steps = np.arange(-count, count + 1, dtype=signed)
    return (centers.view(signed)[:, None] + steps).view(dtype).ravel()


def special_floats(dtype):
    limits = np.finfo(dtype)
    positive = [0, limits.smallest_subnormal, limits.tiny / 3, limits.tiny, 1e-3, 0.5, 1, 1.5, 2, 3]
    positive += [7, 100, limits.max, np.inf, 1 + limits.eps, 1 - limits.epsneg, 2.0**24 + 2]
    positive += [2.0**24 - 1, 2.0**53 - 1, 1 / 3]
    return np.array([*positive, *(-x for x in positive), np.nan], dtype)
