"""Whitening, gain, clamp and gamma of a batch of 4K images, with the error against the input."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.cases.case import Arrays, Case, Parity, Shape, excess, uniform

RTOL, ATOL = 1e-4, 1e-5  # of each pixel: the statistics are float32 sums of 8 million terms
METRIC_RTOL = 1e-5


def image_4k(x):
    mean = np.mean(x, axis=(1, 2), keepdims=True)
    sigma = np.sqrt(np.mean((x - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = np.maximum((x - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - x) ** 2)


def make_inputs(shape: Shape, step: int) -> Arrays:
    x = np.empty(shape, np.float32)
    pixels = x[0].size
    for index, image in enumerate(x):
        image.flat = uniform(pixels, step * x.size + index * pixels)
    return (x,)


def check(inputs: Arrays, result: tuple[np.ndarray, float]) -> Parity:
    (x,) = inputs
    out, mse = result
    if out.shape != x.shape:
        return Parity(float("inf"), float("inf"), f"shape {out.shape}, expected {x.shape}")
    found, squares = [], 0.0
    for image, pixels in zip(x, out, strict=True):
        reference, image_mse = image_4k(image[np.newaxis].astype(np.float64))
        found.append(excess(pixels, reference[0], rtol=RTOL, atol=ATOL))
        squares += float(image_mse) * image.size
    worst, error = np.max(found, axis=0)
    expected = squares / x.size
    relative = abs(float(mse) - expected) / expected
    detail = f"largest error {error:.2g}, mse off by {relative:.2g}"
    return Parity(float(worst), relative / METRIC_RTOL, detail)


CASE = Case(
    name="image_4k",
    function=image_4k,
    make_inputs=make_inputs,
    check=check,
    shape_of=lambda images: (images, 2160, 3840),
    bytes_min=lambda shape: 12 * math.prod(shape),  # read for the statistics, read, write
    result_bytes=lambda shape: 4 * math.prod(shape),
    default_shape=(4, 2160, 3840),
    quick_shape=(1, 2160, 3840),
    small_shape=(1, 10, 10),
)
