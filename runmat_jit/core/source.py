"""Where in the user's program something was asked for, and calls made as if from there."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runmat_jit.core.frozen import frozen_object

_CALL: Final = (lambda _rm_fn, _rm_args, _rm_named: _rm_fn(*_rm_args, **_rm_named)).__code__

Caller = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
"""Calls a function with arguments and keywords."""


@frozen_object
class SourceLine:
    """A line of code; ``namespace`` are the globals of its module, known by identity."""

    filename: str
    line: int
    function: str = ""
    namespace: dict[str, Any] | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is SourceLine and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int, str, int]:
        return self.filename, self.line, self.function, id(self.namespace)

    def caller(self) -> Caller:
        """A function that calls others from this line: Python and NumPy see its frame."""
        calling = _CALL.replace(
            co_filename=self.filename,
            co_firstlineno=self.line,
            co_name=self.function,
            co_qualname=self.function,
        )
        return types.FunctionType(calling, {} if self.namespace is None else self.namespace)

    def short(self) -> str:
        """File name, line and function, for lists."""
        where = f" in {self.function}" if self.function else ""
        return f"{Path(self.filename).name}:{self.line}{where}"

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"

    def __repr__(self) -> str:
        return f"SourceLine({self.filename!r}, {self.line}, {self.function!r})"


def is_calling(code: types.CodeType) -> bool:
    """Whether a frame with this code is that of a caller that :class:`SourceLine` made."""
    return code.co_varnames == _CALL.co_varnames
