"""Constants of a graph: 0-d values known by their bits, so that ``0.0`` is not ``-0.0``."""

from __future__ import annotations

from typing import Any

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Node
from runmat_jit.ops.structure import constant_params, constant_value
from runmat_jit.ops.table import ROWS


def constant(value: Any, dtype: np.dtype) -> Node:
    """The node of ``value`` as a 0-d ``dtype``; the bits of a value that has it are kept."""
    return Node(ROWS["constant"], (), constant_params(value, dtype), TensorType(dtype, ()))


def is_constant(node: Node) -> bool:
    return node.op.name == "constant"


def constant_array(node: Node) -> np.ndarray:
    """The value of a constant, as a 0-d array."""
    return np.asarray(constant_value(node.params["bits"], node.type.dtype))
