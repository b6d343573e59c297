"""``RUNMAT_VERIFY=1``: every run of a program is compared with its graph, operation by operation.

Two comparisons: each operation's own kernel against NumPy on the same operands, within the row's
bound plus NumPy's own error; and the fused results against the unfused ones, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from runmat_jit.backends.reference.interpret import Machine
from runmat_jit.core.errors import RunMatError
from runmat_jit.core.frozen import frozen
from runmat_jit.core.protocols import Program
from runmat_jit.graph.node import Fresh, Graph, Node, Output

NUMPY_ULP = 8.0
"""NumPy's own greatest error, in units in the last place (cos of one float64 argument)."""

EITHER_ZERO = ("fmax", "fmin")
"""Rows for which NumPy takes one zero or the other, by how many elements are left at the end."""


class VerificationError(RunMatError, AssertionError):
    """A compiled result differs from its oracle."""


@frozen
class VerifiedProgram:
    """A program that compares each of its runs with ``single``.

    ``single`` gives the value of every node in ``nodes``, one kernel an operation, and writes
    nothing into its inputs.
    """

    program: Program
    single: Program
    graph: Graph
    nodes: tuple[Node, ...]

    def run(self, inputs: Sequence[Any], warn: frozenset[str]) -> list[np.ndarray]:
        """Run both ways and compare.

        Raises:
            VerificationError: with the first operation that differs, its line and by how much.

        """
        copies = [np.array(value, copy=True, order="K", subok=False) for value in inputs]
        # The copies lie like the originals only if those are dense; show them alike otherwise.
        values = [like(value, copy) for value, copy in zip(inputs, copies, strict=True)]
        known = dict(zip(self.nodes, self.single.run(values, frozenset()), strict=True))
        self.compare_operations(copies, known)
        results = self.program.run(inputs, warn)
        fresh = [o.node for o in self.graph.outputs if isinstance(o.target, Fresh)]
        for node, result in zip(fresh, results, strict=True):
            if node in known and not same_bits(known[node], result):
                raise VerificationError(describe(node, "fused and unfused", known[node], result))
        return results

    def compare_operations(self, inputs: Sequence[np.ndarray], known: dict[Node, Any]) -> None:
        """Each operation's kernel against NumPy on the same operands."""
        machine = Machine(inputs)
        values: dict[Node, Any] = {}
        with np.errstate(all="ignore"):
            for node in self.graph.nodes:
                expected = machine.compute(node, [values[arg] for arg in node.args])
                values[node] = known.get(node, expected)
                if node in known and not within_bound(node, expected, known[node], values):
                    raise VerificationError(describe(node, "NumPy and us", expected, known[node]))


def every_value(graph: Graph) -> tuple[Graph, tuple[Node, ...]]:
    """The graph with every computed value as an output, and those values' nodes."""
    nodes = tuple(n for n in graph.nodes if n.op.kind in ("elementwise", "reduce", "scan", "move"))
    outputs = tuple(Output(node, Fresh(tuple(range(node.type.ndim)))) for node in nodes)
    return Graph(graph.inputs, graph.nodes, outputs), nodes


def like(original: Any, copy: np.ndarray) -> np.ndarray:
    """The copy's values in memory of the original's strides."""
    if not isinstance(original, np.ndarray) or original.strides == copy.strides:
        return copy
    low, high = np.lib.array_utils.byte_bounds(original)
    memory = np.empty(high - low, np.uint8)
    first = original.__array_interface__["data"][0] - low
    shown = np.ndarray(original.shape, original.dtype, memory, first, original.strides)
    shown[...] = copy
    return shown


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the bit; one NaN is as good as another."""
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    same = (a == b) & (np.signbit(a) == np.signbit(b))
    return bool(np.all(same | (np.isnan(a) & np.isnan(b))))


def order_decides(node: Node, values: dict[Node, Any]) -> np.ndarray:
    """Where a sum may leave the range of its dtype in one order and not in another.

    There no bound of the result holds, and nothing is compared.
    """
    assert node.op.reduction is not None, f"{node.op.name} reduces nothing"
    limits = np.finfo(node.type.dtype)
    over: dict[str, Any] = {"axis": node.params["axis"], "keepdims": node.params["keepdims"]}
    terms = terms_of(node, values)
    finite = np.isfinite(terms).all(**over)
    return np.asarray(finite & (terms.sum(**over) > limits.max))


def within_bound(
    node: Node, expected: np.ndarray, found: np.ndarray, values: dict[Node, Any]
) -> bool:
    """True if a result of our own lies within the row's bound plus NumPy's."""
    if node.op.exactness == "bit-defined" or found.dtype.kind != "f":
        if node.op.name in EITHER_ZERO:
            expected = np.where((expected == 0) & (found == 0), found, expected)
        return same_bits(expected, found)
    unit = np.finfo(found.dtype).eps
    free: np.ndarray | bool = False
    if node.op.reduction is not None:
        allowed = reduction_bound(node, expected, values, float(unit))
        free = order_decides(node, values)
    else:
        ulp = node.op.ulp.get(found.dtype.name, 2.0) + NUMPY_ULP
        allowed = ulp * np.spacing(np.abs(np.where(np.isfinite(expected), expected, 1)))
    near = np.abs(found.astype(np.float64) - expected.astype(np.float64)) <= allowed
    special = (found == expected) | (np.isnan(found) & np.isnan(expected))
    extreme = np.isinf(found) | np.isinf(expected)  # overflow decided by the last bit
    largest = np.finfo(found.dtype).max * (1 - 64 * unit)
    close = extreme & (np.abs(found) >= largest) & (np.abs(expected) >= largest)
    return bool(np.all(near | special | close | free))


def terms_of(node: Node, values: dict[Node, Any]) -> np.ndarray:
    """The magnitudes of what a reduction adds."""
    x, *mean = (np.asarray(values[arg], np.float64) for arg in node.args)
    return np.square(x - mean[0]) if mean else np.abs(x)


def reduction_bound(
    node: Node, expected: np.ndarray, values: dict[Node, Any], unit: float
) -> np.ndarray | float:
    """Twice c u times the sum of the terms' magnitudes: our error and NumPy's."""
    terms = terms_of(node, values)
    axis: Any = node.params["axis"]
    keepdims: Any = node.params["keepdims"]
    count = terms.size / max(expected.size, 1)
    total = terms.sum(axis=axis, keepdims=keepdims)
    return np.asarray(2 * max(node.op.reduction.bound, np.log2(count + 2)) * unit * total)  # type: ignore[union-attr]  # asked above


def describe(node: Node, between: str, expected: np.ndarray, found: np.ndarray) -> str:
    """The first element that differs, in words."""
    if expected.shape != found.shape:
        return f"{node.op.name}: shapes of {between} differ: {expected.shape} and {found.shape}"
    with np.errstate(all="ignore"):
        differs = ~((expected == found) | ((expected != expected) & (found != found)))  # noqa: PLR0124  (NaN)
    where = tuple(int(i[0]) for i in np.nonzero(differs)) if differs.any() else ()
    at = f" at line {node.line}" if node.line else ""
    values = f"{expected[where]!r} and {found[where]!r}"
    return f"{node.op.name}{at}: {between} differ, first at {where}: {values}"
