"""Mathematical functions on the adapter; oracle: the same expansions by LLVM, bit for bit.

The adapter's arithmetic is guarded and its fused multiplication and addition emulated, so the bits
must be those of the CPU. Angles so large that the rare path is taken are among the inputs.
"""

import numpy as np
import pytest

from runmat_jit.kernel.math import (
    cube_root,
    division,
    error_function,
    exponential,
    extrema,
    hyperbolic,
    hypotenuse,
    inverse_hyperbolic,
    inverse_trigonometric,
    log_sum,
    logarithm,
    logistic,
    power,
    rounding,
    tangent,
    trigonometric,
)
from tests.backends.wgpu.shaders import need_the_cpus_bits, run
from tests.kernel.math.expansions import FLOATS, any_bits, compiled, differing, special_floats

pytestmark = [pytest.mark.usefixtures("adapter"), pytest.mark.sampled(3)]

UNARY = {
    "exp": exponential.exp,
    "exp2": exponential.exp2,
    "expm1": exponential.expm1,
    "log": logarithm.log,
    "log2": logarithm.log2,
    "log10": logarithm.log10,
    "log1p": logarithm.log1p,
    "sinh": hyperbolic.sinh,
    "cosh": hyperbolic.cosh,
    "tanh": hyperbolic.tanh,
    "sin": trigonometric.sin,
    "cos": trigonometric.cos,
    "tan": tangent.tan,
    "arcsinh": inverse_hyperbolic.arcsinh,
    "arccosh": inverse_hyperbolic.arccosh,
    "arctanh": inverse_hyperbolic.arctanh,
    "arctan": inverse_trigonometric.arctan,
    "arcsin": inverse_trigonometric.arcsin,
    "arccos": inverse_trigonometric.arccos,
    "cbrt": cube_root.cbrt,
    "expit": logistic.expit,
    "logit": logistic.logit,
    "entr": logistic.entr,
    "erf": error_function.erf,
    "erfc": error_function.erfc,
    "rint": rounding.rint,
}
BINARY = {
    "power": power.power,
    "arctan2": inverse_trigonometric.arctan2,
    "xlogy": logistic.xlogy,
    "xlog1py": logistic.xlog1py,
    "logaddexp": log_sum.logaddexp,
    "logaddexp2": log_sum.logaddexp2,
    "hypot": hypotenuse.hypot,
    "fmod": division.fmod,
    "floor_divide": division.floor_divide,
    "remainder": division.remainder,
    "maximum": extrema.maximum,
    "minimum": extrema.minimum,
}


def inputs(count, dtype):
    rng = np.random.default_rng(16)
    x = np.concatenate([rng.normal(0, 10, 300), rng.uniform(0.5, 2, 100)]).astype(dtype)
    x = np.concatenate([x, special_floats(dtype), any_bits(rng, dtype, 100)])
    rng.shuffle(x)
    return [rng.permutation(x) for _ in range(count)]


def on_the_adapter(expansion, columns):
    arguments = expansion.arguments(columns)
    n = arguments["out"].size
    run(expansion.kernel, {**arguments, "n": n}, (0, n))
    return arguments["out"]


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
@pytest.mark.parametrize("kind", FLOATS)
def test_an_expansion_has_the_bits_of_the_cpu(kind, name):
    need_the_cpus_bits(kind)
    count = 1 if name in UNARY else 2
    f = compiled({**UNARY, **BINARY}[name], (kind,) * count)
    columns = inputs(count, FLOATS[kind])
    assert differing(on_the_adapter(f, columns), f(*columns), *columns) == []


@pytest.mark.parametrize("exponent", [0.5, -1.0, 3.0, 1.8, -0.25, np.inf])
def test_constant_exponents_have_the_bits_of_the_cpu(exponent):
    need_the_cpus_bits("f32")

    def expand(k, x):
        return power.power_constant(k, x, exponent)

    f = compiled(expand, ("f32",))
    columns = inputs(1, np.float32)
    assert differing(on_the_adapter(f, columns), f(*columns), *columns) == []
