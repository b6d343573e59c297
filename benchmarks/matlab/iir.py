"""The Python version of ``iir.m``: ``python -m benchmarks.matlab.iir``."""

from __future__ import annotations

import os

import numpy as np

import runmat_jit as runmat

ALPHA, BETA = 0.98, 0.02


@runmat.jit
def iir(channels, steps):
    y = np.zeros(channels, np.float32)
    index = np.arange(channels, dtype=np.float64)
    for t in range(steps):
        state = (1664525.0 * (index + t * channels) + 1013904223.0) % 4294967296.0
        x = (state / 4294967296.0).astype(np.float32)
        y = ALPHA * y + BETA * x
    return np.mean(y)


def main() -> None:
    channels = int(os.environ.get("IIR_M") or 2048)
    steps = int(os.environ.get("IIR_T") or 16)
    print(f"RESULT_ok MEAN={iir(channels, steps):.6e}")


if __name__ == "__main__":
    main()
