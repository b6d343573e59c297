"""What is measured on a GPU: plain NumPy functions, their inputs, and how answers are checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.program import Program, check
from benchmarks.programs.six import PROGRAMS, elementwise, image_4k, uniform

Shape = tuple[int, ...]
Arrays = tuple[np.ndarray, ...]
ELEMENTWISE, IMAGES = PROGRAMS[:2]

UNIT = 2.0**-24  # half a unit in the last place of 1.0 in float32
SUM_BOUND = 36 * 2  # the factor of the error bound, for two levels of a reduction
PIECE = 1 << 16
PIECES = 64  # of the largest arrays, this many pieces are compared with a float64 evaluation


@dataclass(frozen=True, slots=True)
class Contest:
    name: str
    function: Callable[..., Any]
    make_inputs: Callable[[Shape, int], Arrays]  # shape and step; another step, another input
    check: Callable[[Arrays, Any], str]  # what is wrong with a result, or nothing
    shape: Shape
    quick_shape: Shape
    bytes_min: Callable[[Shape], int]  # what has to be read and written at least
    peer: str  # the name of torch's function
    reproducible: bool = False  # results must have the CPU's bits


def total(x):
    return x.sum(keepdims=True)  # an array: a number would be waited for


def image_normalize(x):
    out, _ = image_4k(x)
    return out, ((out - x) ** 2).mean(keepdims=True)  # its error, likewise an array


def uniform_vector(shape: Shape, step: int) -> Arrays:
    return (uniform(shape[0], step),)


def points(shape: Shape, step: int) -> Arrays:
    start = float(uniform(1, step)[0]) if step else 0.0
    return (np.linspace(start, start + 4 * np.pi, shape[0], dtype=np.float32),)


def images(shape: Shape, step: int) -> Arrays:
    x = np.empty(shape, np.float32)
    for index, image in enumerate(x):
        image.flat = uniform(image.size, step * x.size + index * image.size)
    return (x,)


def check_pieces(program: Program) -> Callable[[Arrays, Any], str]:
    """The program's own check, of a long vector in pieces from beginning to end."""

    def check_all(inputs: Arrays, result: np.ndarray) -> str:
        (x,) = inputs
        starts = {0, max(x.size - PIECE, 0), *range(0, x.size, max(PIECE, x.size // PIECES))}
        for start in sorted(starts):
            piece = slice(start, start + PIECE)
            parity = check(program, (x[piece],), result[piece])
            if not parity.ok:
                return f"from element {start} on: {parity.detail}"
        return ""

    return check_all


def check_images(inputs: Arrays, result: tuple[np.ndarray, np.ndarray]) -> str:
    """Each image is compared by itself: all in double precision need too much memory."""
    (x,), (out, error) = inputs, result
    squares = 0.0
    for image, pixels in zip(x, out, strict=True):
        mse = np.mean((pixels.astype(np.float64) - image) ** 2)
        parity = check(IMAGES, (image[np.newaxis],), (pixels[np.newaxis], mse))
        squares += mse
        if not parity.ok:
            return parity.detail
    off = abs(error.item() * len(x) / squares - 1)
    return "" if off <= IMAGES.metric_rtol else f"the error is off by {off:.2g}"


def check_bits(inputs: Arrays, result: np.ndarray) -> str:
    """Every bit is the CPU backend's."""
    expected = runmat.jit(elementwise, device="cpu")(*inputs)
    differing = np.count_nonzero(expected.view(np.uint32) != result.view(np.uint32))
    return f"{differing} of {result.size} results differ from the CPU's" if differing else ""


def check_total(inputs: Arrays, result: np.ndarray) -> str:
    (x,) = inputs
    exact = float(x.sum(dtype=np.float64))  # its own error is far below the bound
    error, allowed = abs(result.item() - exact), SUM_BOUND * UNIT * exact
    return f"{result} is not {exact}" if not error <= allowed else ""


CONTESTS = (
    Contest(
        "chain",
        elementwise,
        points,
        check_pieces(ELEMENTWISE),
        shape=(1 << 28,),
        quick_shape=(20_003,),
        bytes_min=lambda shape: 8 * shape[0],
        peer="chain",
    ),
    Contest(
        "chain, reproducible",
        elementwise,
        points,
        check_bits,
        shape=(1 << 28,),
        quick_shape=(20_003,),
        bytes_min=lambda shape: 8 * shape[0],
        peer="chain",
        reproducible=True,
    ),
    Contest(
        "sum",
        total,
        uniform_vector,
        check_total,
        shape=(1 << 28,),
        quick_shape=(40_001,),
        bytes_min=lambda shape: 4 * shape[0],
        peer="sum",
    ),
    Contest(
        "image normalize",
        image_normalize,
        images,
        check_images,
        shape=(16, 2160, 3840),
        quick_shape=(2, 54, 96),
        bytes_min=lambda shape: 12 * math.prod(shape),
        peer="image_4k",
    ),
)
