"""The Python version of ``image_4k.m``: ``python -m benchmarks.matlab.image_4k``.

Axes are those of MATLAB's memory: the last one, the batch, runs fastest. Numbers are those of the
script's ``rng(0)``.
"""

from __future__ import annotations

import os

import numpy as np

import runmat_jit as runmat

SIZE = {"IMG_W": 3840, "IMG_H": 2160, "IMG_B": 16}


@runmat.jit
def image_4k(images):
    mean = np.mean(images, axis=(0, 1), keepdims=True)
    sigma = np.sqrt(np.mean((images - mean) ** 2, axis=(0, 1), keepdims=True) + 1e-6)
    out = (images - mean) / sigma * 1.0123 + -0.02
    out = np.maximum(out, 0.0)
    out = out**1.8
    return out, np.mean((out - images) ** 2)


def main() -> None:
    shape = [int(os.environ.get(name) or default) for name, default in SIZE.items()]
    rng = runmat.random.default_rng(0)
    _, mse = image_4k(rng.random(shape, dtype=np.float32))
    print(f"RESULT_ok MSE={mse:.6e}")


if __name__ == "__main__":
    main()
