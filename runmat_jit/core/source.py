"""Where in the user's program something was asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the user's code."""

    filename: str
    line: int
    function: str = ""
    module: str = ""

    def namespace(self) -> dict[str, Any] | None:
        """The globals of the module that the line is in, if it can still be found."""
        found = sys.modules.get(self.module)
        return None if found is None else vars(found)

    def short(self) -> str:
        """File name, line and function, for lists."""
        where = f" in {self.function}" if self.function else ""
        return f"{Path(self.filename).name}:{self.line}{where}"

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"
