"""From imperative operations on storages to a graph of values.

Each storage has a current version, a node. Reading an array loads its geometry from the version
of its storage; writing makes a new version, with every operand read from the old one (NumPy's
rule for overlapping operands). Views vanish: they are geometry. Writes to memory that exists
outside leave the graph as ordered stores.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from itertools import combinations, groupby
from typing import Any

import numpy as np

from runmat_jit.capture.tape import geometry as geo
from runmat_jit.capture.tape.entries import CONSTANT, Operand, Operation, ScalarOperand
from runmat_jit.capture.tape.storage import Geometry, Storage, Windows, memory_order
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.core.types import TensorType, c_strides, is_complex, part_dtype
from runmat_jit.graph.node import Computation, Fresh, Graph, GraphBuilder, Into, Node, Output
from runmat_jit.ops.spec import Op as Row
from runmat_jit.ops.spec import canonical_params
from runmat_jit.ops.table import ROWS
from runmat_jit.passes.events import reports_events


class Refused(Exception):  # noqa: N818  (an answer, not a failure: the operations run one by one)
    """These operations have no graph together."""


@frozen
class ScalarInput:
    """A graph input given by value, cast to the dtype that the operation computes with.

    ``part``: of a complex number that part.
    """

    operand: ScalarOperand
    dtype: np.dtype
    part: str = ""

    @property
    def value(self) -> Any:
        """The number."""
        value = self.operand.value
        return getattr(value, self.part) if self.part else value


@frozen
class Functional:
    """A graph; where its inputs come from; the storages whose values are its fresh outputs."""

    graph: Graph
    inputs: tuple[Storage | ScalarInput, ...]
    fresh: tuple[Storage, ...]


def functionalize(
    pending: Iterable[Operation],
    live: Iterable[Storage],
    windows: Windows | None = None,
    *,
    alone: bool = False,
) -> Functional:
    """The graph of pending operations.

    Args:
        pending: Operations in program order.
        live: Storages without memory whose values are wanted.
        windows: Views that are inputs of their own.
        alone: There is one operation, which reads everything before it writes: overlap is no harm.

    Raises:
        Refused: arrays overlap in a way that versions cannot express.

    """
    state = _State(Windows() if windows is None else windows, alone=alone)
    for operation in pending:
        state.run(operation)
    if not alone:
        state.check_overlap()
    fresh = tuple(live)
    outputs = [Output(state.version(s), Fresh(memory_order(s.shape, s.strides))) for s in fresh]
    stores = [
        Output(node, Into(state.numbers[target.storage], *_place(target)))
        for target, node in state.stores
    ]
    unseen = _events_nobody_reads(state.computed, outputs + stores)
    graph = state.builder.finish([*outputs, *unseen, *stores])
    return Functional(in_program_order(graph, state), tuple(state.inputs), fresh)


def in_program_order(graph: Graph, state: _State) -> Graph:
    """The graph with its nodes as they were made: NumPy reports events in that order."""
    wanted = set(graph.nodes)
    nodes = tuple([node for node in state.builder._interned.values() if node in wanted])
    return Graph(graph.inputs, nodes, graph.outputs, computations(nodes, state.computed))


def computations(
    nodes: tuple[Node, ...], computed: list[tuple[Operation, Node]]
) -> tuple[Computation, ...]:
    """The operations that may report events, unless each of them is a node of its own."""
    own: set[Node] = set()
    for operation, node in computed:
        spelled = node.op.numpy == row_of(operation).numpy
        if (node in own or not spelled) and reports_events(node):
            break
        own.add(node)
    else:
        return ()
    numbers = {node: number for number, node in enumerate(nodes)}
    reporting = [(operation, node) for operation, node in computed if reports_events(node)]
    found = []
    for _, group in groupby(reporting, key=lambda pair: pair[0].number):
        pairs = list(group)
        operation = pairs[0][0]
        places = tuple([numbers[node] for _, node in pairs])
        row = row_of(operation)
        found.append(Computation(places, row.ufunc, row.numpy, operation.source))
    return tuple(found)


def row_of(operation: Operation) -> Row:
    """The row that NumPy warns of, with the casts of what the operation reads and writes."""
    row = operation.meaning.row
    return row if row.ufunc else ROWS["cast"]


@slotted
class _State:
    windows: Windows
    alone: bool
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    inputs: list[Storage | ScalarInput] = field(default_factory=list)
    numbers: dict[Storage, int] = field(default_factory=dict)
    versions: dict[Storage, Node] = field(default_factory=dict)
    scalars: dict[tuple[int, np.dtype, str], Node] = field(default_factory=dict)
    stores: list[tuple[Geometry, Node]] = field(default_factory=list)
    computed: list[tuple[Operation, Node]] = field(default_factory=list)
    lost: set[Storage] = field(default_factory=set)

    def run(self, op: Operation) -> None:
        """Compute one operation from the versions so far, then write its target."""
        what = op.meaning
        pairs = zip(op.operands, what.operand_dtypes, strict=True)
        args = tuple(self.operand(operand, dtype, op) for operand, dtype in pairs)
        types = tuple(arg.type for arg in args)
        params = canonical_params(what.row, what.params, types)
        kind = TensorType(what.dtype, what.shape)
        node = self.builder.make(what.row, args, params, kind, op.source)
        self.computed.append((op, node))
        self.write(op.target, node, op)

    # -- reading ---------------------------------------------------------------------------------
    def operand(self, operand: Operand, dtype: np.dtype, reader: Operation) -> Node:
        """The node of an operand, cast to ``dtype``."""
        if isinstance(operand, Geometry):
            return self.cast(self.read(operand), dtype, reader)
        if isinstance(operand, ScalarOperand):
            return self.scalar(operand, dtype)
        bits = np.asarray(operand).astype(dtype).tobytes()
        return self.builder.make(ROWS["constant"], (), {"bits": bits}, TensorType(dtype, ()))

    def scalar(self, operand: ScalarOperand, dtype: np.dtype) -> Node:
        kind = TensorType(dtype, ())
        if not is_complex(dtype):
            return self.scalar_input(operand, dtype)
        if isinstance(operand.value, complex | np.complexfloating):
            part = part_dtype(dtype)
            both = tuple(self.scalar_input(operand, part, name) for name in ("real", "imag"))
            return self.builder.make(ROWS["complex_of"], both, {}, kind)
        real = self.scalar_input(operand, part_dtype(dtype))
        return self.builder.make(ROWS["cast"], (real,), {"dtype": dtype.name}, kind)

    def scalar_input(self, operand: ScalarOperand, dtype: np.dtype, part: str = "") -> Node:
        """The input for a number, or for a part of a complex one."""
        key = (id(operand) if operand.slot == CONSTANT else operand.slot, dtype, part)
        if key not in self.scalars:
            kind = TensorType(dtype, ())
            self.scalars[key] = self.builder.input(ROWS["input"], kind, None, None)
            self.inputs.append(ScalarInput(operand, dtype, part))
        return self.scalars[key]

    def cast(self, node: Node, dtype: np.dtype, asks: Operation) -> Node:
        if node.type.dtype == dtype:
            return node
        kind = TensorType(dtype, node.type.shape)
        cast = self.builder.make(ROWS["cast"], (node,), {"dtype": dtype.name}, kind, asks.source)
        self.computed.append((asks, cast))
        return cast

    def version(self, storage: Storage) -> Node:
        """The current value of a storage; memory that exists becomes an input."""
        node = self.versions.get(storage)
        if node is None:
            node = self.versions[storage] = self.input(storage)
        return node

    def input(self, storage: Storage) -> Node:
        if storage.memory is None:
            raise Refused("a value is read that nothing computes")
        assert not storage.hollow, "a value that a replay had freed is read"
        strides = geo.in_elements(storage.strides, storage.dtype.itemsize)
        if strides is None:
            raise Refused("strides are no multiple of the element size")
        self.numbers[storage] = len(self.inputs)
        self.inputs.append(storage)
        kind = TensorType(storage.dtype, storage.shape)
        return self.builder.input(ROWS["input"], kind, strides, None)

    def read(self, at: Geometry) -> Node:
        """The value that an array shows."""
        try:
            return self.read_version(at)
        except Refused:
            own = at.as_storage() if self.alone else None
            if own is None:
                raise
            return self.input(own)

    def read_version(self, at: Geometry) -> Node:
        """The value that an array shows, of the current version of its storage."""
        if at.shows_part():
            return self.part(self.read_version(at.of_complex()), at)
        window = self.windows.of(at)
        if window is not None:
            return self.version(window)
        if at.storage in self.lost:
            raise Refused("memory is read after a write that mixes its axes")
        node = self.version(at.storage)
        if at.whole() or at.shape == at.storage.shape == ():
            return node
        base_strides, offset, strides = _element_strides(at)
        found = geo.window(at.storage.shape, base_strides, offset, at.shape, strides)
        if found is not None:
            return self.show(node, found)
        return self.show_strided(node, at)

    def part(self, node: Node, at: Geometry) -> Node:
        """The parts of complex numbers that an array shows."""
        name = "imag" if at.offset_in_number() else "real"
        return self.builder.make(ROWS[name], (node,), {}, TensorType(at.dtype, at.shape))

    def with_part(self, target: Geometry, node: Node) -> tuple[Geometry, Node]:
        """Complex numbers some parts of which are written, as they are then."""
        whole = target.of_complex()
        written = target.offset_in_number()
        size = target.dtype.itemsize
        other = replace(target, offset=whole.offset + size - written)
        pair = (self.part(self.read_version(whole), other), node)
        kind = TensorType(whole.dtype, whole.shape)
        return whole, self.builder.make(
            ROWS["complex_of"], pair if written else pair[::-1], {}, kind
        )

    def show(self, node: Node, found: geo.Window) -> Node:
        """A window as slice, transpose, reshape and broadcast; what changes nothing is left out."""
        make, dtype = self.builder.make, node.type.dtype
        if found.extents != node.type.shape or any(step != 1 for step in found.steps):
            params = {"starts": found.starts, "steps": found.steps, "shape": found.extents}
            node = make(ROWS["slice"], (node,), params, TensorType(dtype, found.extents))
        walked = tuple(axis for axis in found.axes if axis >= 0)
        rest = tuple(axis for axis in range(len(found.starts)) if axis not in walked)
        order = rest + walked
        if order != tuple(range(len(order))):
            shape = tuple(node.type.shape[axis] for axis in order)
            node = make(ROWS["transpose"], (node,), {"axes": order}, TensorType(dtype, shape))
        kept = tuple(
            extent if axis >= 0 else 1 for extent, axis in zip(found.shape, found.axes, strict=True)
        )
        if kept != node.type.shape:
            node = make(ROWS["reshape"], (node,), {"shape": kept}, TensorType(dtype, kept))
        if found.shape != kept:
            kind = TensorType(dtype, found.shape)
            node = make(ROWS["broadcast_to"], (node,), {"shape": found.shape}, kind)
        return node

    def show_strided(self, node: Node, at: Geometry) -> Node:
        """Any other geometry on contiguous memory: reshapes of it, diagonals."""
        base = at.storage
        order = memory_order(base.shape, base.strides)
        base_strides, offset, strides = _element_strides(at)
        if base_strides != c_strides(base.shape, order):
            raise Refused("a view mixes axes of memory that is not contiguous")
        kind = TensorType(at.dtype, at.shape)
        plain = order == tuple(range(len(order)))
        covers = offset == 0 and kind.size == node.type.size
        if plain and covers and geo.is_contiguous(at.shape, strides):
            return self.builder.make(ROWS["reshape"], (node,), {"shape": at.shape}, kind)
        params = {"offset": offset, "shape": at.shape, "strides": strides, "order": order}
        return self.builder.make(ROWS["strided"], (node,), params, kind)

    # -- writing ---------------------------------------------------------------------------------
    def write(self, target: Geometry, node: Node, writer: Operation) -> None:
        """Make a new version of the target's storage."""
        window = self.windows.of(target)
        if window is not None:
            target = window.geometry()
        node = self.cast(node, target.dtype, writer)
        if 0 in target.shape and not target.whole():
            return
        if node.type.shape != target.shape:
            kind = TensorType(target.dtype, target.shape)
            params = {"shape": target.shape}
            node = self.builder.make(ROWS["broadcast_to"], (node,), params, kind)
        if target.shows_part():
            target, node = self.with_part(target, node)
        storage = target.storage
        if storage.memory is not None and 0 not in target.shape:
            self.version(storage)  # an input, so that the store has a place
            self.store(target, node)
        if target.whole():
            self.versions[storage] = node
            self.lost.discard(storage)
        elif storage in self.lost:
            return
        elif storage.memory is None:
            self.versions[storage] = self.update(target, node)
        else:
            try:
                self.versions[storage] = self.update(target, node)
            except Refused:  # the store says it all, unless the memory is read again
                self.lost.add(storage)

    def store(self, target: Geometry, node: Node) -> None:
        """Remember a write to outside memory; what it covers entirely is forgotten."""
        storage = target.storage
        strides = geo.in_elements(target.strides, target.dtype.itemsize)
        if strides is None or geo.overlaps_itself(target.shape, strides):
            raise Refused("a written array overlaps itself")
        if target.whole():
            self.stores = [entry for entry in self.stores if entry[0].storage is not storage]
        elif self.stores and self.stores[-1][0] == target:
            self.stores.pop()
        self.stores.append((target, node))

    def update(self, target: Geometry, node: Node) -> Node:
        """The storage's value with part of it replaced."""
        base = self.version(target.storage)
        base_strides, offset, strides = _element_strides(target)
        found = geo.window(target.storage.shape, base_strides, offset, target.shape, strides)
        if found is None:
            raise Refused("a write mixes axes of its base")
        order = found.permutation()
        if order is not None and found.extents == target.storage.shape:
            return self.permute_back(node, found, order)
        steps = c_strides(target.storage.shape)
        start = sum(s * step for s, step in zip(found.starts, steps, strict=True))
        into = tuple(0 if axis < 0 else found.steps[axis] * steps[axis] for axis in found.axes)
        params = {"offset": start, "shape": target.shape, "strides": into}
        return self.builder.make(ROWS["update"], (base, node), params, base.type)

    def permute_back(self, node: Node, found: geo.Window, order: tuple[int, ...]) -> Node:
        """The value of a storage all of whose elements were written through a view."""
        inverse = tuple(sorted(range(len(order)), key=order.__getitem__))
        shape = tuple(node.type.shape[axis] for axis in inverse)
        kind = TensorType(node.type.dtype, shape)
        if inverse != tuple(range(len(order))):
            node = self.builder.make(ROWS["transpose"], (node,), {"axes": inverse}, kind)
        if any(step < 0 for step in found.steps):
            params = {"starts": found.starts, "steps": found.steps, "shape": shape}
            node = self.builder.make(ROWS["slice"], (node,), params, kind)
        return node

    def check_overlap(self) -> None:
        """Refuse writes to memory that another input shows too."""
        storages = [entry for entry in self.inputs if isinstance(entry, Storage)]
        refuse_shared({target.storage for target, _ in self.stores}, storages)


def refuse_shared(written: set[Storage], storages: list[Storage]) -> None:
    """See that no memory is both written and read, or written twice, as two inputs.

    Raises:
        Refused: some is.

    """
    if not written:
        return
    for a, b in combinations(storages, 2):
        if (a in written or b in written) and np.may_share_memory(a.array(), b.array()):
            raise Refused("a written array shares memory with another one")


def _element_strides(at: Geometry) -> tuple[tuple[int, ...], int, tuple[int, ...]]:
    """Base strides, offset and strides in elements of a geometry of the storage's own dtype."""
    size = at.storage.dtype.itemsize
    base, own = geo.in_elements(at.storage.strides, size), geo.in_elements(at.strides, size)
    if base is None or own is None or at.offset % size or at.dtype != at.storage.dtype:
        raise Refused("a view shows its memory as another dtype")
    return base, at.offset // size, own


def _place(target: Geometry) -> tuple[int, tuple[int, ...]]:
    """Offset and strides of a store, in elements."""
    size = target.dtype.itemsize
    strides = geo.in_elements(target.strides, size)
    assert strides is not None, "store() has seen these strides"
    return target.offset // size, strides


def _events_nobody_reads(
    computed: list[tuple[Operation, Node]], outputs: list[Output]
) -> list[Output]:
    """Results that nothing needs but whose floating-point events count."""
    needed: set[int] = set()
    stack = [output.node for output in outputs]
    while stack:
        node = stack.pop()
        if id(node) not in needed:
            needed.add(id(node))
            stack.extend(node.args[node.op.is_pattern :])
    unseen: list[Output] = []
    for _, node in reversed(computed):
        if id(node) in needed or not node.op.events:
            continue
        unseen.append(Output(node, Fresh(tuple(range(node.type.ndim)))))
        stack = [node]
        while stack:
            below = stack.pop()
            if id(below) not in needed:
                needed.add(id(below))
                stack.extend(below.args[below.op.is_pattern :])
    return unseen
