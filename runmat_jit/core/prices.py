"""What it costs to compute in one way or another, in calls of NumPy on a few elements.

These are counts, never seconds, so that a program does the same in every process: what takes less
is decided by them before there is a kernel whose time could be predicted (``plan.price``).
"""

from __future__ import annotations

from typing import Final

ELEMENTS: Final = 512
"""Elements that NumPy computes in the time that a call of it takes."""
OPERATIONS: Final = 8
"""Operations of Python's on numbers that take as long as a call; nodes of MATLAB's, too."""

ENTRY: Final = 30
"""Of an entry of the tape."""
RECORDING: Final = 2000
"""Of a recording whose trace is not kept, beside its entries."""
PROGRAM: Final = 3000
"""Of a new program, beside the operations in it."""
COMPILED: Final = 200
"""Of an operation in a new program, for each of its steps."""
COMPILING: Final = 30_000
"""Of a program that nobody keeps, or a loop that is compiled: about ten milliseconds."""
FREE: Final = 350_000
"""What a recording may cost whatever it gains: some tenths of a second."""

REPLAY: Final = 80
"""Of a replay by Python that is more than kernels, beside its calls; of a native loop, likewise."""
DECISION: Final = 16
"""Of a replay by Python that is kernels alone, and of each of its decisions."""
GUARDED: Final = 4
"""Of a call of NumPy's in a replay, beyond the call itself; of a native loop in native code."""

RECORDING_PAYS: Final = 200_000
"""Of the plain calls of a function after which it is recorded and compiled: a tenth of a second."""
LOOP_PAYS: Final = OPERATIONS * COMPILING
"""Of the runs of a loop after which it is compiled, in operations of Python's."""
LOOPS_PAY: Final = 60_000
"""Of calls of a function with loops, estimated high, after which its loops are looked at."""
