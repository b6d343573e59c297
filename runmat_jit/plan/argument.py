"""Arguments of kernels: what a parameter is bound to, in terms of a plan's values."""

from __future__ import annotations

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node


@frozen
class NodeBuffer:
    """The memory of a graph input or of a stored node, from ``offset`` elements on."""

    node: Node
    offset: int = 0


@frozen
class Scratch:
    """Temporary memory of one region, such as partial sums: ``size`` elements."""

    number: int
    dtype: np.dtype
    size: int


@frozen
class InputScalar:
    """The value of a graph input that is given by value, already converted to its dtype."""

    node: Node


@frozen
class TableBuffer:
    """A constant table of a mathematical expansion."""

    name: str


@frozen
class NodeView:
    """Elements of the memory of a graph input or a stored node, as an array of ``node``'s type.

    ``base`` is whose memory it is; offset and strides in elements.
    """

    node: Node
    base: Node
    offset: int
    strides: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """True if it is the memory's own array."""
        return self.base is self.node


@frozen
class Number:
    """A number that is known beforehand."""

    value: int | np.generic
    dtype: np.dtype


HostOperand = NodeView | InputScalar | Number
"""What a host call is given: an array, or a NumPy scalar."""
Argument = NodeBuffer | Scratch | InputScalar | TableBuffer | int
"""How one parameter is bound; an int is an extent, offset or stride."""
