"""Operations that were recorded and not computed yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from runmat_jit.capture.tape.entries import Compute, Op, Ref
from runmat_jit.capture.tape.lines import Line
from runmat_jit.capture.tape.storage import Geometry
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


@dataclass(slots=True, eq=False)
class Form:
    """What operations depend on of a value: dtype (a class, of Python's numbers), shape, strides.

    The table of patterns makes each once, so that equal forms are one object.
    """

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    is_freed: bool | None = None
    """Of a new result: see :func:`storage.is_freed`; None until it is asked for."""


@dataclass(slots=True, eq=False)
class Pattern:
    """What is computed, and the form of the result; the same object for the same facts."""

    meaning: Compute
    form: Form


@frozen
class KnownCall:
    """How a call is deferred whose arguments have known forms.

    ``operands`` says which arguments the row reads, None for all in order; ``into`` which one it
    writes, None for a new result. ``weak`` lists the operands whose number must fit the dtype that
    they are cast to. ``fn``, ``args`` and ``kwargs`` are the first such call, as its tape mentions
    it: others have the same constants, and traced values from other slots. ``is_single``: it is an
    operation on single numbers whose bits NumPy defines.
    """

    pattern: Pattern
    operands: tuple[int, ...] | None
    into: int | None
    weak: tuple[int, ...]
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    is_single: bool

    def op(self, slots: Sequence[int], out: int | None, line: Line | None) -> Op:
        """The entry of a call on the values in ``slots``, whose result goes to ``out``."""
        numbers = iter(slots)
        args = tuple([Ref(next(numbers)) if type(arg) is Ref else arg for arg in self.args])
        result = None if out is None else Ref(out)
        source = None if line is None else line.source
        return Op(self.fn, args, self.kwargs, result, source, self.pattern.meaning)
