"""The image program in MATLAB against its Python versions: ``python -m benchmarks.matlab_image``.

The metric is compared first. Then rounds of the three alternate in one process: the program, the
decorated Python function on the same memory (the batch runs fastest), and on an array in C order
(each image contiguous). Parsing and compiling are done before; each round has another input.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.cases import image_4k as c_order
from benchmarks.matlab.image_4k import image_4k
from benchmarks.ratios import ratio_of_rounds
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit import jit

ROUNDS = 12
PROGRAM = Path(__file__).parent / "matlab" / "image_4k.m"
RTOL = 1e-5


def matlab_mse(images: np.ndarray) -> float:
    """Run the program on images given in MATLAB's order of axes; what it printed."""
    printed: list[str] = []
    session = Session(engine_for("cpu"), write=printed.append)
    run_source(Source.from_file(PROGRAM), {"imgs": images}, session, frozenset())
    return float("".join(printed).rpartition("=")[2])


def seconds(run: Callable[[np.ndarray], float], images: np.ndarray) -> float:
    start = perf_counter()
    run(images)
    return perf_counter() - start


def main(arguments: list[str]) -> None:
    batch, height, width = map(int, arguments or ("4", "2160", "3840"))
    rng = np.random.default_rng(0)
    inputs = [rng.random((width, height, batch), dtype=np.float32) for _ in range(2)]
    contiguous = {id(x): np.ascontiguousarray(x.T) for x in inputs}
    plain = jit(c_order.image_4k)
    runs: dict[str, Callable[[np.ndarray], float]] = {
        "MATLAB program": lambda x: matlab_mse(x.T),
        "Python, same memory": lambda x: float(image_4k(x)[1]),
        "Python, C order": lambda x: float(plain(contiguous[id(x)])[1]),
    }
    for images in inputs:
        metrics = {name: run(images) for name, run in runs.items()}
        expected = metrics["Python, C order"]
        assert all(abs(m - expected) <= RTOL * expected for m in metrics.values()), metrics
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _, images in zip(range(ROUNDS), cycle(inputs), strict=False):
        for name, run in runs.items():
            times[name].append(seconds(run, images))
    for name, taken in times.items():
        ratio = ratio_of_rounds(times["MATLAB program"], taken)
        print(f"{name:20} {1e3 * sorted(taken)[ROUNDS // 2]:8.1f} ms; MATLAB takes {ratio}")


if __name__ == "__main__":
    main(sys.argv[1:])
