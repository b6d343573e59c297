"""The Python version of ``monte_carlo.m``: ``python -m benchmarks.matlab.monte_carlo``."""

from __future__ import annotations

import math
import os

import numpy as np

import runmat_jit as runmat

MU, SIGMA, DT, START, STRIKE = 0.05, 0.20, 1.0 / 252.0, 100.0, 100.0
DRIFT, SCALE = (MU - 0.5 * SIGMA**2) * DT, SIGMA * math.sqrt(DT)


@runmat.jit
def step(prices, normals):
    return prices * np.exp(DRIFT + SCALE * normals)


@runmat.jit
def mean_payoff(prices):
    return np.mean(np.maximum(prices - STRIKE, 0.0))


def main() -> None:
    paths = int(os.environ.get("MC_M") or 1_000_000)
    steps = int(os.environ.get("MC_T") or 256)
    rng = runmat.random.default_rng(0)
    prices = np.full(paths, START, np.float32)
    for _ in range(steps):
        prices = step(prices, rng.standard_normal(paths, np.float32))
    price = float(mean_payoff(prices)) * math.exp(-MU * steps * DT)
    print(f"RESULT_ok PRICE={price:.8g}")


if __name__ == "__main__":
    main()
