"""The Python version of ``nlms.m``: ``python -m benchmarks.matlab.nlms``."""

from __future__ import annotations

import os

import numpy as np

import runmat_jit as runmat

MU, EPSILON = 0.5, 1e-3
SIZE = {"NLMS_P": 128, "NLMS_C": 2048, "NLMS_T": 200}


@runmat.jit
def nlms(taps, filters, steps):
    weights = np.zeros((taps, filters), np.float32)
    index = np.arange(taps * filters, dtype=np.float64).reshape(taps, filters)
    for t in range(steps):
        state = (1664525.0 * (index + t * taps * filters) + 1013904223.0) % 4294967296.0
        x = (state / 4294967296.0).astype(np.float32)
        wanted = np.sum(x * x, axis=0)
        error = wanted - np.sum(x * weights, axis=0)
        weights = weights + MU * (x * (error / (wanted + EPSILON)))
    final = wanted.astype(np.float64) - np.sum(x * weights, axis=0).astype(np.float64)
    return np.mean(final**2)


def main() -> None:
    sizes = [int(os.environ.get(name) or default) for name, default in SIZE.items()]
    print(f"RESULT_ok MSE={nlms(*sizes):.6e}")


if __name__ == "__main__":
    main()
