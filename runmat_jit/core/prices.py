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
"""Work of a function's plain calls after which it is recorded: about a tenth of a second."""
BUILDING: Final = 2 * COMPILING
"""Price of a program, from its graph to native code, beside its operations."""
BUILDING_STEP: Final = 1000
"""Price of each operation of a program."""
LOOP_PAYS: Final = 4 * OPERATIONS * COMPILING
"""Operations of Python's that a loop runs before it is compiled."""
LOOPS_PAY: Final = 200_000
"""Work of a function with loops, estimated high, after which its loops are looked at."""
