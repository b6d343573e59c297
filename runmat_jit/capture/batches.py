"""Computes pending operations: one graph, one program, one step of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.feed import Feed
from runmat_jit.capture.functionalize import Functional, Refused, ScalarInput, functionalize
from runmat_jit.capture.pending import Pending
from runmat_jit.capture.storage import FREED_BYTES, Geometry, Storage, array_at
from runmat_jit.capture.tape import Ref
from runmat_jit.capture.trace import Batch, scalar_of
from runmat_jit.graph.node import Graph, Into
from runmat_jit.graph.renumber import as_seen
from runmat_jit.runtime.arrays import host_written, to_host

if TYPE_CHECKING:
    from runmat_jit.capture.tracer import Tracer


def flush(tracer: Tracer) -> None:
    """Compute everything that is pending, as one batch or, where versions do not do, one by one."""
    pending, tracer.pending = tracer.pending, []
    feed = tracer.steps.feed
    if feed is not None:
        pending = computed_before(feed, pending)
        if not pending:
            return
    made = targets(pending)
    live = [storage for storage in made if storage.memory is None and storage.alive]
    try:
        functional = functionalize(pending, live)
    except Refused as refusal:
        tracer.refused.append(str(refusal))
        run_one_by_one(tracer, pending)
        return
    run(tracer, functional, pending[-1].entry + 1)


def computed_before(feed: Feed, pending: Sequence[Pending]) -> list[Pending]:
    """Give storages what a replay has computed; the operations that it has not."""
    for operation in pending:
        storage = operation.target.storage
        if operation.entry < feed.end and storage.memory is None:
            memory = feed.memory(storage.slot)
            storage.memory, storage.hollow = storage.array(), memory is None
            if memory is not None:
                storage.memory = memory
    return [operation for operation in pending if operation.entry >= feed.end]


def run_one_by_one(tracer: Tracer, pending: Sequence[Pending]) -> None:
    """Each operation by itself: all its operands are read before it writes, whatever overlaps."""
    for operation in pending:
        storage = operation.target.storage
        live = [storage] if storage.memory is None else []
        try:
            functional = functionalize([operation], live, alone=True)
        except Refused as refusal:
            tracer.effect("no-graph", str(refusal))
            run_by_numpy(operation)
        else:
            run(tracer, functional, operation.entry + 1)


def run_by_numpy(operation: Pending) -> None:
    """What no graph can say, such as a write to memory that overlaps itself."""
    for place in (operation.target, *operation.operands):
        if isinstance(place, Geometry):
            to_host(place.storage.memory)
    host_written(operation.target.storage.memory)
    target = array_of(operation.target)
    values = [
        array_of(operand) if isinstance(operand, Geometry) else getattr(operand, "value", operand)
        for operand in operation.operands
    ]
    function: Any = operation.row.numpy
    if isinstance(function, np.ufunc) and not operation.params:
        function(*values, out=target, casting="unsafe")
    else:
        np.copyto(target, function(*values, **operation.params), casting="unsafe")


def array_of(at: Geometry) -> np.ndarray:
    """The real array of a geometry, where its memory exists."""
    assert at.storage.memory is not None, "fresh memory has a graph"
    return array_at(at.storage.memory, at.offset, at.dtype, at.shape, at.strides)


def targets(pending: Sequence[Pending]) -> list[Storage]:
    """The storages that the operations write, each once, in order."""
    return list(dict.fromkeys(operation.target.storage for operation in pending))


def run(tracer: Tracer, functional: Functional, upto: int) -> None:
    """Compile and run a graph, give the storages their memory, and record the step."""
    graph = functional.graph
    if tracer.symbols is not None:
        tracer.symbols.graphs.append(graph)
        graph = as_seen(graph)
    program = tracer.executor.compile(graph)
    tracer.gains = tracer.gains or computes_arrays(graph)
    tracer.programs.append(program)
    values = [
        scalar_of(entry.operand.value, entry.dtype)
        if isinstance(entry, ScalarInput)
        else entry.memory
        for entry in functional.inputs
    ]
    warn = frozenset() if tracer.immediate else tracer.state.warn  # NumPy has warned already
    outside = None if tracer.publishable else tracer.boundary  # unknown code may hold arrays
    if outside is not None:
        outside.distrust()
    results = program.run(values, warn)
    if outside is not None:
        outside.refresh()
    for storage, result in zip(functional.fresh, results, strict=False):
        storage.memory = result
    writes = any(isinstance(output.target, Into) for output in functional.graph.outputs)
    for entry in functional.inputs:
        if isinstance(entry, Storage):  # a view that is read as memory of its own
            tracer.steps.need(Ref(entry.slot))
    step = Batch(
        program,
        tuple(map(source, functional.inputs)),
        tuple((storage.slot, storage.scalar) for storage in functional.fresh),
        warn,
        writes,
        upto,
    )
    large = [storage.slot for storage in functional.fresh if storage.nbytes >= FREED_BYTES]
    tracer.steps.filled.update(large)
    tracer.steps.add(step)


def computes_arrays(graph: Graph) -> bool:
    """Whether kernels do more than read elements and compute with single numbers."""
    return any(output.node.type.size > 1 for output in graph.outputs) or any(
        node.op.kind == "reduce" and node.args[0].type.size > 1 for node in graph.nodes
    )


def source(entry: Storage | ScalarInput) -> tuple[int, np.dtype | None]:
    """Where a replay finds a graph input, and the dtype that a scalar is cast to."""
    if isinstance(entry, ScalarInput):
        return entry.operand.slot, entry.dtype
    return entry.slot, entry.dtype if entry.scalar else None
