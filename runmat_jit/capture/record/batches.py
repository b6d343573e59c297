"""Computes pending operations: one graph, one program, one step of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.capture.record import elements
from runmat_jit.capture.record.balance import work_on
from runmat_jit.capture.record.batch_cache import KnownBatch
from runmat_jit.capture.record.batch_key import Wiring, wiring_of
from runmat_jit.capture.replay.steps import Batch, scalar_of
from runmat_jit.capture.tape.entries import Ref
from runmat_jit.capture.tape.functionalize import (
    Functional,
    Refused,
    ScalarInput,
    functionalize,
    refuse_shared,
)
from runmat_jit.capture.tape.pending import Pending
from runmat_jit.capture.tape.storage import Geometry, Storage, array_at
from runmat_jit.core.frozen import frozen
from runmat_jit.graph.node import Graph, Into
from runmat_jit.graph.renumber import as_seen
from runmat_jit.graph.text import to_text
from runmat_jit.runtime.arrays import host_written, to_host

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer


def flush(tracer: Tracer) -> None:
    """Compute everything that is pending, as one batch or, where versions do not do, one by one."""
    pending, tracer.pending = tracer.pending, []
    feed = tracer.steps.feed
    if feed is not None:
        pending = feed.left_of(pending)
        if not pending:
            tracer.recipes.clear()
            return
    if elements.all_by_numpy(tracer, pending):
        return
    live = [storage for storage in targets(pending) if storage.memory is None and storage.alive]
    try:
        batch = compiled(tracer, pending, live)
    except Refused as refusal:
        tracer.refused.append(str(refusal))
        run_one_by_one(tracer, pending)
        return
    run(tracer, batch, pending[-1].entry + 1)


@frozen
class Compiled:
    """A program, its inputs, the storages whose values it gives; see :class:`KnownBatch`."""

    program: Any
    inputs: tuple[Storage | ScalarInput, ...]
    fresh: Sequence[Storage]
    writes: bool
    work: int
    ours: bool


def compiled(tracer: Tracer, pending: Sequence[Pending], live: Sequence[Storage]) -> Compiled:
    """The program of pending operations: a known one, where their wiring is known.

    Raises:
        Refused: they have no graph together.

    """
    known = tracer.known_batches
    if known is None:
        return compile_batch(tracer, functionalize(pending, live))
    wiring = wiring_of(pending, live)
    key = wiring.key, tracer.boundary is None
    found = known.find(key)
    if found is not None and not known.checked:
        return connected(found, wiring, live)
    functional = functionalize(pending, live)
    made = compile_batch(tracer, functional)
    text = to_text(functional.graph) if known.checked else ""
    batch = disconnected(made, functional, wiring, text)
    if found is None:
        known.keep(key, batch, len(pending))
    else:  # the program may have been compiled anew
        same = replace(found, program=made.program) == batch
        assert same, f"operations with equal wiring have one graph, not\n{found.text}and\n{text}"
    return made


def compile_batch(tracer: Tracer, functional: Functional) -> Compiled:
    """The program of a graph."""
    graph = functional.graph
    if tracer.symbols is not None:
        tracer.symbols.graphs.append(graph)
        graph = as_seen(graph)
    writes = any(isinstance(output.target, Into) for output in graph.outputs)
    ours = any(node.op.exactness == "ours" for node in graph.nodes)
    program = tracer.executor.compile(graph)
    return Compiled(program, functional.inputs, functional.fresh, writes, work_of(graph), ours)


def disconnected(made: Compiled, functional: Functional, wiring: Wiring, text: str) -> KnownBatch:
    """A batch by the numbers of its wiring."""
    storages = {storage: number for number, storage in enumerate(wiring.storages)}
    scalars = {operand.slot: number for number, operand in enumerate(wiring.scalars)}
    places = tuple(
        [
            (scalars[entry.operand.slot], entry.dtype)
            if isinstance(entry, ScalarInput)
            else (storages[entry], None)
            for entry in made.inputs
        ]
    )
    targets_of = [output.target for output in functional.graph.outputs]
    into = {target.input for target in targets_of if isinstance(target, Into)}
    written = tuple([places[number][0] for number in sorted(into)])
    return KnownBatch(made.program, places, written, made.work, made.ours, text)


def connected(found: KnownBatch, wiring: Wiring, live: Sequence[Storage]) -> Compiled:
    """A known batch on the storages and scalars of this call.

    Raises:
        Refused: arrays that are written share memory with others.

    """
    inputs = tuple(
        [
            wiring.storages[number] if dtype is None else ScalarInput(wiring.scalars[number], dtype)
            for number, dtype in found.inputs
        ]
    )
    storages = [entry for entry in inputs if isinstance(entry, Storage)]
    assert not any(storage.hollow for storage in storages), "a freed value is read"
    refuse_shared({wiring.storages[number] for number in found.written}, storages)
    return Compiled(found.program, inputs, live, bool(found.written), found.work, found.ours)


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
            run(tracer, compile_batch(tracer, functional), operation.entry + 1)


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
    function: Any = operation.meaning.row.numpy
    params = operation.meaning.params
    if isinstance(function, np.ufunc) and not params:
        function(*values, out=target, casting="unsafe")
    else:
        np.copyto(target, function(*values, **params), casting="unsafe")


def array_of(at: Geometry) -> np.ndarray:
    """The real array of a geometry, where its memory exists."""
    assert at.storage.memory is not None, "fresh memory has a graph"
    return array_at(at.storage.memory, at.offset, at.dtype, at.shape, at.strides)


def targets(pending: Sequence[Pending]) -> list[Storage]:
    """The storages that the operations write, each once, in order."""
    return list(dict.fromkeys([operation.target.storage for operation in pending]))


def run(tracer: Tracer, batch: Compiled, upto: int) -> None:
    """Run a program, give the storages their memory, and record the step."""
    program = batch.program
    tracer.balance.work += batch.work
    tracer.balance.ours = tracer.balance.ours or batch.ours
    tracer.programs.append(program)
    values = [
        scalar_of(entry.operand.value, entry.dtype)
        if isinstance(entry, ScalarInput)
        else entry.memory
        for entry in batch.inputs
    ]
    warn = frozenset() if tracer.immediate else tracer.state.warn  # NumPy has warned already
    outside = None if tracer.publishable else tracer.boundary  # unknown code may hold arrays
    if outside is not None:
        outside.distrust()
    results = program.run(values, warn)
    if outside is not None:
        outside.refresh()
    for storage, result in zip(batch.fresh, results, strict=False):
        storage.memory = result
    for storage in batch.fresh:
        if storage.is_sized:
            tracer.steps.sized.add(storage.slot)
        elif storage.is_freed:
            tracer.steps.filled.add(storage.slot)
    if not tracer.steps.repeats:
        return
    for entry in batch.inputs:
        if isinstance(entry, Storage):  # a view that is read as memory of its own
            tracer.steps.need(Ref(entry.slot))
    step = Batch(
        program,
        tuple(map(source, batch.inputs)),
        tuple((storage.slot, storage.scalar) for storage in batch.fresh),
        warn,
        batch.writes,
        upto,
    )
    tracer.steps.add(step)


def work_of(graph: Graph) -> int:
    """Work on arrays in operations of NumPy's on a few elements, which take about as long each.

    0 where kernels do no more than read elements and compute with single numbers.
    """
    if not computes_arrays(graph):
        return 0
    computed = [node for node in graph.nodes if node.op.kind != "structure"]
    sizes = [max([node.type.size, *(arg.type.size for arg in node.args)]) for node in computed]
    return 1 + sum(map(work_on, sizes))


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
