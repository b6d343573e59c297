"""Choice of the device that a program runs on."""

from __future__ import annotations

from collections.abc import Callable

from runmat_jit.core.frozen import frozen
from runmat_jit.core.hardware import WORKGROUP
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.text import operation_name
from runmat_jit.passes.fusion.matrix_product import as_matrices
from runmat_jit.plan.profile import TUNING


@frozen
class Device:
    """A device as plans know it: ``cpu`` or ``gpu``.

    ``builtins`` are functions of an adapter that its kernels may use; None: kernels that give the
    same bits everywhere. ``column_threads`` as of its tuning. ``reason`` says why it is not the
    device that was asked for.
    """

    kind: str
    builtins: frozenset[str] | None = None
    column_threads: int = TUNING.column_threads
    reason: str = ""

    @property
    def shares_tiles(self) -> bool:
        """True if threads have memory in common, in which tiles of matrices lie."""
        return self.kind == "gpu"


CPU = Device("cpu")
FEW_LINES = 2 * WORKGROUP
"""Lines that keep too few threads of a GPU busy."""


def choose_device(wanted: str, graph: Graph, find_gpu: Callable[[], Device]) -> Device:
    """The device of a program.

    One with host calls, or with scans of few lines, stays in the host's memory.

    Args:
        wanted: ``cpu`` or ``gpu``.
        graph: What runs there.
        find_gpu: The GPU, or the CPU with the reason why there is none; asked only if one could be
            used, since opening an adapter takes a while.

    """
    if wanted != "gpu":
        return CPU
    calls = (node for node in graph.nodes if node.op.kind == "host")
    host = next((node for node in calls if as_matrices(node) is None), None)
    if host is not None:
        return Device(
            "cpu", reason=f"{operation_name(host)} is computed by NumPy, in the host's memory"
        )
    scan = next(filter(is_of_few_lines, graph.nodes), None)
    if scan is not None:
        order = "takes one element after the other, in NumPy's order, along few lines"
        return Device("cpu", reason=f"{scan.op.name} {order}")
    return find_gpu()


def is_of_few_lines(node: Node) -> bool:
    """True if a scan walks so few lines that a GPU, a thread for each, takes longer than copies."""
    if node.op.scan is None:
        return False
    axis = node.params["axis"]
    assert isinstance(axis, int), "canonical"
    return node.type.size < FEW_LINES * node.type.shape[axis]
