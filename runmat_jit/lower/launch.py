"""What lowering gives to a backend: kernels and how their parameters are bound."""

from __future__ import annotations

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Node
from runmat_jit.kernel.ir import Kernel


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


Argument = NodeBuffer | Scratch | InputScalar | TableBuffer | int
"""How one parameter is bound; an int is an extent, offset or stride."""


@frozen
class Launch:
    """One kernel run: arguments in parameter order over ``total`` iterations of its top block.

    ``grain`` iterations are the least that one thread should take at once.
    """

    kernel: Kernel
    arguments: tuple[Argument, ...]
    total: int
    grain: int
    nbytes: int
    """Bytes read and written at least, for reports and for the choice of threads."""
