"""Operations that were recorded and not computed yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from runmat_jit.capture.deferring.patterns import Pattern
from runmat_jit.capture.objects.lines import Line
from runmat_jit.capture.objects.storage import Geometry
from runmat_jit.capture.tape import Compute
from runmat_jit.core.frozen import frozen
from runmat_jit.core.source import SourceLine


@final
@frozen
class ScalarOperand:
    """A Python or NumPy scalar that a replay finds in ``slot``; ``value`` is this call's.

    ``early``: it is known before anything runs, for it depends on arguments alone.
    """

    slot: int
    value: Any
    early: bool = False


Operand = Geometry | ScalarOperand | bool | int | float | np.generic
"""What a pending operation reads: an array, a scalar by slot, or a constant."""


@dataclass(slots=True)
class Pending:
    """A call of a pattern on ``operands``, written to ``target``: all of a new storage, or part.

    Never changed (it is not frozen because each operation makes one, in a quarter of the time).
    """

    pattern: Pattern
    operands: tuple[Operand, ...]
    target: Geometry
    line: Line | None
    entry: int
    """Its number on the tape."""

    @property
    def meaning(self) -> Compute:
        """The row, and what it computes."""
        return self.pattern.meaning

    @property
    def source(self) -> SourceLine | None:
        """The user's line, for messages."""
        return None if self.line is None else self.line.source
