"""`numba.njit(parallel=True)` with the loops written out, as its documentation advises.

Constants are float32 so that nothing is computed in double; sums are per row, then in double.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import njit, prange

from benchmarks.cases.case import Case
from benchmarks.peers.peer import Implementation, select

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


FUNCTIONS = {"elementwise": elementwise, "image_4k": image_4k}


def implement(case: Case) -> Implementation:
    return Implementation(
        peer="numba",
        versions={"numba": numba.__version__},
        threads=numba.get_num_threads(),
        run=select("numba", FUNCTIONS, case.name),
        note="loops written by hand",
    )
