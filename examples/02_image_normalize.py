"""Whitening of a batch of images: statistics and the pass that uses them, fused."""

import numpy as np

import runmat_jit as runmat


@runmat.jit
def normalize(images):
    mean = images.mean(axis=(1, 2), keepdims=True)
    sigma = np.sqrt(((images - mean) ** 2).mean(axis=(1, 2), keepdims=True) + 1e-6)
    out = np.maximum((images - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - images) ** 2)


rng = np.random.default_rng(7)
images = rng.random((2, 270, 480), dtype=np.float32)
out, mse = normalize(images)

with runmat.disable():
    plain, plain_mse = normalize(images)

np.testing.assert_allclose(out, plain, rtol=1e-4, atol=1e-5)
np.testing.assert_allclose(mse, plain_mse, rtol=1e-5)
print(f"mean squared change: {mse:.6f} (NumPy: {plain_mse:.6f})")
print(f"fused as: {', '.join(normalize.explain(images).kinds)}")
