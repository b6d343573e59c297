"""What all nodes have."""

from __future__ import annotations

from dataclasses import dataclass, field

from matlab_frontend.source import Span

IGNORED = "~"
"""Stands for the name of an input that a function does not use."""


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes: the text that it was read from."""

    span: Span = field(compare=False, repr=False)
