"""A chain of transcendental functions over one vector: no reduction, one result."""

from __future__ import annotations

import numpy as np

from benchmarks.cases.case import Arrays, Case, Parity, Shape, excess, uniform

RTOL, ATOL = 2e-6, 1e-6  # NumPy's own float32 evaluation uses about a third of this
CHUNK = 1 << 20  # the float64 reference is made piece by piece, so it needs little memory


def elementwise(x):
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    return np.tanh(y1) + 0.1 * y1


def make_inputs(shape: Shape, step: int) -> Arrays:
    start = float(uniform(1, step)[0]) if step else 0.0
    return (np.linspace(start, start + 4 * np.pi, shape[0], dtype=np.float32),)


def check(inputs: Arrays, result: np.ndarray) -> Parity:
    (x,) = inputs
    if result.shape != x.shape:
        return Parity(float("inf"), float("inf"), f"shape {result.shape}, expected {x.shape}")
    pieces = [slice(start, start + CHUNK) for start in range(0, x.size, CHUNK)]
    found = [
        excess(result[piece], elementwise(x[piece].astype(np.float64)), rtol=RTOL, atol=ATOL)
        for piece in pieces
    ]
    worst, error = np.max(found, axis=0)
    return Parity(float(worst), float(worst), f"largest error {error:.2g}")


CASE = Case(
    name="elementwise",
    function=elementwise,
    make_inputs=make_inputs,
    check=check,
    shape_of=lambda points: (points,),
    bytes_min=lambda shape: 8 * shape[0],  # one read, one write
    result_bytes=lambda shape: 4 * shape[0],
    default_shape=(5_000_001,),
    quick_shape=(1_000_001,),
    small_shape=(100,),
)
