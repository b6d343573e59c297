"""Operations that were recorded and not computed yet."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from runmat_jit.capture.storage import Geometry
from runmat_jit.core.source import SourceLine
from runmat_jit.ops.spec import Op as Row


@dataclass(frozen=True, slots=True)
class ScalarOperand:
    """A Python or NumPy scalar that a replay finds in ``slot``; ``value`` is this call's.

    ``early``: it is known before anything runs, for it depends on arguments alone.
    """

    slot: int
    value: Any
    early: bool = False


Operand = Geometry | ScalarOperand | bool | int | float | np.generic
"""What a pending operation reads: an array, a scalar by slot, or a constant."""


@dataclass(frozen=True, slots=True)
class Pending:
    """``row`` on ``operands``, written to ``target``: a whole new storage, or part of one."""

    row: Row
    operands: tuple[Operand, ...]
    operand_dtypes: tuple[np.dtype, ...]
    params: Mapping[str, Hashable]
    dtype: np.dtype
    shape: tuple[int, ...]
    target: Geometry
    line: SourceLine | None
    entry: int
    """Its number on the tape."""
