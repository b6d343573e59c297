"""What all nodes have."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from matlab_frontend.source import Span
from runmat_jit.core.frozen import frozen

IGNORED = "~"
"""Stands for the name of an input that a function does not use."""


@frozen
class Node:
    """Base of all nodes: the text that it was read from."""

    span: Span = field(compare=False, repr=False)

    def parts(self) -> list[Any]:
        """What the node consists of, nodes and others; not its place in the text."""
        names: tuple[str, ...] = self.__match_args__
        return [getattr(self, name) for name in names[1:]]
