"""The Python version of ``elementwise.m``: ``python -m benchmarks.matlab.elementwise``."""

from __future__ import annotations

import os

import numpy as np

import runmat_jit as runmat


@runmat.jit
def elementwise(x):
    y0 = np.sin(x) * np.exp(-x / 10)
    y1 = y0 * np.cos(x / 4) + 0.25 * y0**2
    y2 = np.tanh(y1) + 0.1 * y1
    return y2, np.mean(y2)


def main() -> None:
    points = int(os.environ.get("ELEMENTWISE_POINTS") or 5_000_001)
    x = np.linspace(0, 4 * np.pi, points).astype(np.float32)
    _, mean = elementwise(x)
    print(f"RESULT_ok MEAN={mean:.6e}")


if __name__ == "__main__":
    main()
