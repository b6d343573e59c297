"""`numba.njit`; with loops written by hand and `parallel=True` where NumPy code would not gain.

In those, constants are float32, so that nothing is computed in double; sums of rows are added in
double.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import njit, prange

from benchmarks.peers.peer import Implementation
from benchmarks.program import Program

f32 = np.float32


@njit(parallel=True)
def elementwise(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        v = x[i]
        y0 = math.sin(v) * math.exp(-v / f32(10))
        y1 = y0 * math.cos(v / f32(4)) + f32(0.25) * y0 * y0
        out[i] = math.tanh(y1) + f32(0.1) * y1
    return out


@njit(parallel=True)
def image_4k(x):
    images, rows, columns = x.shape
    count = rows * columns
    out = np.empty_like(x)
    squared_error = 0.0
    for image in range(images):
        total = 0.0
        for row in prange(rows):
            partial = f32(0)
            for column in range(columns):
                partial += x[image, row, column]
            total += partial
        mean = f32(total / count)
        total = 0.0
        for row in prange(rows):
            partial = f32(0)
            for column in range(columns):
                partial += (x[image, row, column] - mean) ** 2
            total += partial
        sigma = math.sqrt(f32(total / count) + f32(1e-6))
        for row in prange(rows):
            partial = f32(0)
            for column in range(columns):
                v = x[image, row, column]
                scaled = (v - mean) / sigma * f32(1.0123) - f32(0.02)
                w = max(scaled, f32(0)) ** f32(1.8)
                out[image, row, column] = w
                partial += (w - v) * (w - v)
            squared_error += partial
    return out, squared_error / x.size


FUNCTIONS = {"six.elementwise": elementwise, "six.image_4k": image_4k}


def implement(name: str, program: Program) -> Implementation:
    by_hand = FUNCTIONS.get(name)
    return Implementation(
        "numba",
        {"numba": numba.__version__},
        by_hand or njit(program.fn),
        threads=numba.get_num_threads() if by_hand else 1,
        note="loops written by hand" if by_hand else "the plain function, serial",
    )
