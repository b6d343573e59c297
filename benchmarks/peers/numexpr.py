"""`numexpr.evaluate` for the elementwise parts, NumPy for the statistics.

Constants are float32 variables: numexpr computes literals, and all they touch, in double.
"""

from __future__ import annotations

import numexpr
import numpy as np

from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Program

f32 = np.float32
CHAIN_CONSTANTS = {"tenth": f32(0.1), "quarter": f32(0.25)}
IMAGE_CONSTANTS = {"gain": f32(1.0123), "bias": f32(0.02), "zero": f32(0), "gamma": f32(1.8)}


def elementwise(x):
    values = {"x": x, **CHAIN_CONSTANTS}
    y0 = numexpr.evaluate("sin(x) * exp(-x * tenth)", values)
    values["y0"] = y0
    y1 = numexpr.evaluate("y0 * cos(x * quarter) + quarter * y0 * y0", values)
    return numexpr.evaluate("tanh(y1) + tenth * y1", {"y1": y1, **CHAIN_CONSTANTS})


def image_4k(x):
    mean = np.mean(x, axis=(1, 2), keepdims=True)
    deviation = numexpr.evaluate("(x - mean) * (x - mean)", {"x": x, "mean": mean})
    sigma = np.sqrt(np.mean(deviation, axis=(1, 2), keepdims=True) + 1e-6)
    values = {"x": x, "mean": mean, "sigma": sigma, **IMAGE_CONSTANTS}
    clamped = "((x - mean) / sigma * gain - bias)"
    out = numexpr.evaluate(f"where({clamped} > zero, {clamped}, zero) ** gamma", values)
    return out, np.mean(numexpr.evaluate("(out - x) * (out - x)", {"out": out, "x": x}))


FUNCTIONS = {"six.elementwise": elementwise, "six.image_4k": image_4k}


def implement(name: str, _program: Program) -> Implementation:
    if name not in FUNCTIONS:
        raise PeerUnavailableError(f"numexpr: no version of {name}")
    return Implementation(
        peer="numexpr",
        versions={"numexpr": numexpr.__version__},
        threads=numexpr.get_num_threads(),
        run=FUNCTIONS[name],
        note="literals as float32 variables, three expressions",
    )
