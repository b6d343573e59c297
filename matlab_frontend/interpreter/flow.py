"""How a block ended."""

from __future__ import annotations

from enum import Enum, auto


class Flow(Enum):
    """``NEXT`` goes on with the statement after the block."""

    NEXT = auto()
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()
