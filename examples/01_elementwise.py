"""A chain of elementwise functions: one decorator, one kernel."""

import numpy as np

import runmat_jit as runmat


@runmat.jit
def chain(x):
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


x = np.linspace(0, 4 * np.pi, 1_000_001, dtype=np.float32)
y = chain(x)

with runmat.disable():
    plain = chain(x)

assert y.dtype == np.float32
np.testing.assert_allclose(y, plain, rtol=1e-5, atol=1e-6)
print(f"largest difference from NumPy: {np.abs(y - plain).max():.2g}")
print(f"fused as: {', '.join(chain.explain(x).kinds)}")
