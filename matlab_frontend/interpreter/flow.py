"""How a block was left."""

from __future__ import annotations

from enum import Enum, auto


class Flow(Enum):
    """What leaves a block before its last statement."""

    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()
