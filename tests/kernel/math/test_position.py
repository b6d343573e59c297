"""A result depends on its input alone: not on its position, its neighbors, or on the backend.

Oracle: the function itself at other positions, and the interpreter of kernels.
"""

import platform
from dataclasses import replace

import numpy as np
import pytest

from runmat_jit.backends.llvm.target import X86_64_V3_LINUX
from runmat_jit.kernel.math import exponential, hyperbolic, inverse_trigonometric, logarithm
from runmat_jit.kernel.math.cube_root import cbrt
from runmat_jit.kernel.math.division import fmod
from runmat_jit.kernel.math.hypotenuse import hypot
from runmat_jit.kernel.math.power import power
from runmat_jit.kernel.math.trigonometric import cos, sin
from tests.kernel.math.expansions import (
    FLOATS,
    Expansion,
    any_bits,
    backend,
    compiled,
    differing,
    special_floats,
)

UNARY = [exponential.exp, exponential.exp2, exponential.expm1, sin, cos]
UNARY += [logarithm.log, logarithm.log2, logarithm.log10, logarithm.log1p]
UNARY += [hyperbolic.sinh, hyperbolic.cosh, hyperbolic.tanh, inverse_trigonometric.arctan]
UNARY += [inverse_trigonometric.arcsin, inverse_trigonometric.arccos, cbrt]
BINARY = [inverse_trigonometric.arctan2, hypot, power, fmod]
FUNCTIONS = {function.__name__: function for function in (*UNARY, *BINARY)}


def inputs(name, dtype):
    rng = np.random.default_rng(16)
    x = np.concatenate([rng.normal(0, 10, 150).astype(dtype), special_floats(dtype)])
    x = np.concatenate([x, any_bits(rng, dtype, 50)])
    rng.shuffle(x)
    return [x, rng.permutation(x)] if FUNCTIONS[name] in BINARY else [x]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_every_position_gives_the_same_bits(kind, name):
    columns = inputs(name, FLOATS[kind])
    f = compiled(FUNCTIONS[name], (kind,) * len(columns), kind)
    whole = f(*columns)
    for start, stop in [(1, None), (5, 6), (13, 90), (0, 63), (64, 128), (3, 200)]:
        part = [x[start:stop] for x in columns]
        assert differing(f(*part), whole[start:stop], *part) == []


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_native_code_has_the_bits_of_the_interpreter(kind, name):
    columns = inputs(name, FLOATS[kind])
    f = compiled(FUNCTIONS[name], (kind,) * len(columns), kind)
    assert differing(f(*columns), f.interpreted(*columns), *columns) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="compares two kinds of x86-64")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("kind", FLOATS)
def test_vectors_of_256_bits_give_the_same_bits(kind, name):
    columns = inputs(name, FLOATS[kind])
    kinds = (kind,) * len(columns)
    older = replace(X86_64_V3_LINUX, triple=backend().target.triple)
    narrow = Expansion(FUNCTIONS[name], kinds, kind, older)
    got, expected = narrow(*columns), compiled(FUNCTIONS[name], kinds, kind)(*columns)
    assert differing(got, expected, *columns) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_uniform_operands_are_taken(name):
    def expand(k, *columns):
        uniform = [k.const(0.75, "f64") for _ in columns]
        return FUNCTIONS[name](k, *uniform) + columns[0] * 0.0

    count = len(inputs(name, np.float64))
    constant = compiled(expand, ("f64",) * count, "f64")(*[[1.0]] * count)
    variable = compiled(FUNCTIONS[name], ("f64",) * count, "f64")(*[[0.75]] * count)
    assert differing(constant, variable) == []
