"""Errors of float32 functions at every float32: ``python -m tests.accuracy.sweep sin cos``.

About two minutes a row on one core; without names all rows of one operand. Each row's greatest
error is written to the record when the row is done, so a run can be cut short and taken up again.
"""

import heapq
import sys
import time

import numpy as np

from tests.accuracy.functions import ALL, UNARY, errors_of
from tests.accuracy.record import Found, keep

BLOCK = 1 << 16
KEPT = 8
"""Worst inputs that are kept, each of another block."""


def sweep(name, stride=1):
    """The largest errors over every ``stride``-th float32, with their inputs, worst first."""
    worst = []
    for start in range(0, ALL, BLOCK * stride):
        bits = np.arange(start, min(start + BLOCK * stride, ALL), stride, np.uint64)
        x = bits.astype(np.uint32).view(np.float32)
        off = errors_of(name, x)
        index = int(np.argmax(off))
        entry = float(off[index]), int(bits[index]), float(x[index])
        (heapq.heappush if len(worst) < KEPT else heapq.heappushpop)(worst, entry)
    return [Found(error, (x,)) for error, _, x in sorted(worst, reverse=True)]


def main():
    for name in sys.argv[1:] or UNARY:
        start = time.perf_counter()
        found = sweep(name)
        keep(name, "float32", ALL, found)
        seconds = time.perf_counter() - start
        worst = f"{found[0].error:.4f} ULP at {found[0].operands}"
        sys.stdout.write(f"{name}: {worst}, {seconds:.0f} s\n")


if __name__ == "__main__":
    main()
