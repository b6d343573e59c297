"""Computes pending operations: one graph, one program, one mark on the tape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from runmat_jit.capture.record.balance import work_on
from runmat_jit.capture.record.batch_cache import CachedBatch
from runmat_jit.capture.record.batch_key import BatchKey, batch_key, identity
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.replay.steps import scalar_of
from runmat_jit.capture.tape.entries import CONSTANT, Draw, Flush, Operation, Source
from runmat_jit.capture.tape.functionalize import (
    Functional,
    Refused,
    ScalarInput,
    functionalize,
    refuse_shared,
)
from runmat_jit.capture.tape.lines import Line
from runmat_jit.capture.tape.storage import Geometry, Storage, Windows, array_at
from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import Part
from runmat_jit.graph.node import Graph, Into, Node
from runmat_jit.graph.renumber import as_seen
from runmat_jit.graph.text import to_text
from runmat_jit.ops.product import product_in
from runmat_jit.ops.spec import is_ours
from runmat_jit.passes.fusion.explained_variance import has_diagonal_of_product
from runmat_jit.passes.fusion.matrix_product import joins_rows
from runmat_jit.passes.fusion.own_products import has_own_products
from runmat_jit.runtime.arrays import host_written, to_host


def flush(recording: Recording) -> None:
    """Compute everything that is pending, as one batch or, where versions do not do, one by one."""
    writes = recording.writes_pending
    taken = pending = recording.take_pending()
    resume = recording.tape.resume
    if resume is not None:
        pending = resume.left_of(taken)
    if pending:
        live = [storage for storage in targets(pending) if storage.memory is None and storage.alive]
        try:
            batch = compiled(recording, pending, live)
        except Refused as refusal:
            recording.refused.append(str(refusal))
            run_one_by_one(recording, pending)
        except BaseException:  # of a signal handler: the program may catch it, and go on
            recording.keep_pending(taken)
            recording.writes_pending = writes
            raise
        else:
            run(recording, batch, pending[-1].number + 1)
    for operation in taken:
        operation.done()


@frozen
class Batch:
    """A program, its inputs, the storages whose values it gives; see :class:`CachedBatch`."""

    program: Any
    inputs: tuple[Storage | ScalarInput, ...]
    fresh: Sequence[Storage]
    writes: bool
    work: int
    ours: bool


def compiled(recording: Recording, pending: Sequence[Operation], live: Sequence[Storage]) -> Batch:
    """The program of pending operations: a cached one, where their key is known.

    Raises:
        Refused: they have no graph together.

    """
    moves = recording.boundary is None  # parts of arrays are not on devices
    windows = Windows(recording.moving.look(pending) if moves else frozenset())
    if windows.storages:
        try:
            return compiled_with(recording, pending, live, windows)
        except Refused:  # views that are written overlap
            pass
    return compiled_with(recording, pending, live, Windows())


def compiled_with(
    recording: Recording, pending: Sequence[Operation], live: Sequence[Storage], windows: Windows
) -> Batch:
    """The same, where some views are inputs of their own."""
    cache = recording.batch_cache
    if cache is None:
        functional = functionalize(pending, live, windows)
        return compile_batch(recording, functional, pending[0].line)
    made_key = batch_key(pending, live, windows)
    key = made_key.key, recording.executor.place
    found = cache.find(key)
    if found is not None and not cache.checked:
        return connected(found, made_key, live)
    functional = functionalize(pending, live, windows)
    made = compile_batch(recording, functional, pending[0].line)
    text = to_text(functional.graph) if cache.checked else ""
    batch = disconnected(made, functional, made_key, text)
    if found is None:
        recording.balance.programs += 1
        cache.keep(key, batch, len(pending))
    else:  # the program may have been compiled anew
        same = replace(found, program=made.program) == batch
        assert same, f"operations with equal keys have one graph, not\n{found.text}and\n{text}"
    return made


def compile_batch(recording: Recording, functional: Functional, line: Line | None) -> Batch:
    """The program of a graph, whose first operation stands in a line."""
    graph = functional.graph
    if recording.symbols is not None:
        recording.symbols.graphs.append(graph)
        graph = as_seen(graph)
    writes = any(isinstance(output.target, Into) for output in graph.outputs)
    multiplies = has_own_products(graph) or has_diagonal_of_product(graph)
    ours = multiplies or any(
        joins_rows(node) or is_ours(node.op, [arg.type.dtype for arg in node.args])
        for node in graph.nodes
    )
    program = recording.executor.compile(graph)
    if all(program is not known for known in recording.programs):
        recording.balance.compiles(line, sum(map(steps_of, graph.nodes)))
    work = work_of(graph)
    return Batch(program, functional.inputs, functional.fresh, writes, work, ours)


def steps_of(node: Node) -> float:
    """Steps of a node's code, by which compiling it takes time."""
    return 1 + node.op.flops


def disconnected(made: Batch, functional: Functional, key: BatchKey, text: str) -> CachedBatch:
    """A batch by the numbers of its key."""
    storages = {storage: number for number, storage in enumerate(key.storages)}
    scalars = {identity(operand): number for number, operand in enumerate(key.scalars)}
    places = tuple(
        [
            (scalars[identity(entry.operand)], entry.dtype, entry.part)
            if isinstance(entry, ScalarInput)
            else (storages[entry], None, "")
            for entry in made.inputs
        ]
    )
    targets_of = [output.target for output in functional.graph.outputs]
    into = {target.input for target in targets_of if isinstance(target, Into)}
    written = tuple([places[number][0] for number in sorted(into)])
    return CachedBatch(made.program, places, written, made.work, made.ours, text)


def connected(found: CachedBatch, key: BatchKey, live: Sequence[Storage]) -> Batch:
    """A cached batch on the storages and scalars of this call.

    Raises:
        Refused: arrays that are written share memory with others.

    """
    inputs = tuple(
        [
            key.storages[number] if dtype is None else ScalarInput(key.scalars[number], dtype, part)
            for number, dtype, part in found.inputs
        ]
    )
    storages = [entry for entry in inputs if isinstance(entry, Storage)]
    assert not any(storage.hollow for storage in storages), "a freed value is read"
    refuse_shared({key.storages[number] for number in found.written}, storages)
    return Batch(found.program, inputs, live, bool(found.written), found.work, found.ours)


def run_one_by_one(recording: Recording, pending: Sequence[Operation]) -> None:
    """Each operation by itself: all its operands are read before it writes, whatever overlaps."""
    for operation in pending:
        storage = operation.target.storage
        live = [storage] if storage.memory is None else []
        try:
            functional = functionalize([operation], live, alone=True)
        except Refused as refusal:
            recording.effect("no-graph", str(refusal))
            run_by_numpy(operation)
        else:
            run(recording, compile_batch(recording, functional, None), operation.number + 1)


def run_by_numpy(operation: Operation) -> None:
    """Fallback where no graph can be, such as a write to memory that overlaps itself."""
    for place in operation.places:
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


def targets(pending: Sequence[Operation]) -> list[Storage]:
    """The storages that the operations write, each once, in order."""
    return list(dict.fromkeys([operation.target.storage for operation in pending]))


def run(recording: Recording, batch: Batch, upto: int) -> None:
    """Run a program, give the storages their memory, and mark the tape."""
    program = batch.program
    recording.balance.gained(batch.work, ours=batch.ours)
    recording.programs.append(program)
    values = [
        scalar_of(entry.value, entry.dtype) if isinstance(entry, ScalarInput) else entry.memory
        for entry in batch.inputs
    ]
    warn = frozenset() if recording.immediate else recording.state.warn  # NumPy has warned already
    outside = None if recording.publishable else recording.boundary  # unknown code may hold arrays
    if outside is not None:
        outside.distrust()
    results = program.run(values, warn)
    draws = recording.streams.take(feeding=recording.tape.feeding)
    if outside is not None:
        outside.refresh()
    for storage, result in zip(batch.fresh, results, strict=False):
        storage.memory = result
    if recording.tape.repeats:
        recording.tape.mark(
            flush_mark(batch, warn, upto, draws, frees_all=recording.executor.on_gpu)
        )


def flush_mark(
    batch: Batch,
    warn: frozenset[str],
    upto: int,
    draws: tuple[Draw, ...] = (),
    *,
    frees_all: bool = False,
) -> Flush:
    """Flush mark of a batch; ``frees_all``: replays forget small arrays, too.

    Programs of a GPU are bound to memory: the less of it a call needs, the more often it is the
    same.
    """
    return Flush(
        batch.program,
        tuple(map(source, batch.inputs)),
        tuple([(storage.slot, storage.scalar) for storage in batch.fresh]),
        warn,
        batch.writes,
        upto,
        large=tuple([s.slot for s in batch.fresh if (s.is_freed or frees_all) and not s.is_sized]),
        sized=tuple([s.slot for s in batch.fresh if s.is_sized]),
        draws=draws,
    )


def work_of(graph: Graph) -> int:
    """Work on arrays in operations of NumPy's on a few elements, which take about as long each.

    0 where kernels do no more than read elements and compute with single numbers.
    """
    if not computes_arrays(graph):
        return 0
    computed = [node for node in graph.nodes if not has_no_kernel(node)]
    if not computed:
        return 0
    return 1 + sum(1 if is_product(node) else work_on(elements_in(node)) for node in computed)


def elements_in(node: Node) -> int:
    """Elements that are computed, or reduced; of an update, those that are written."""
    if node.op.name == "update":
        return node.args[1].type.size
    return max([node.type.size, *(arg.type.size for arg in node.args if may_reduce(node))])


def may_reduce(node: Node) -> bool:
    """True if an operation makes few elements of many, by itself or by what it is made of."""
    return node.op.kind == "reduce" or node.op.decompose is not None or is_product(node)


def has_no_kernel(node: Node) -> bool:
    """True if a node is no operation, or NumPy is called for it."""
    return node.op.kind == "structure" or (node.op.kind == "host" and not is_product(node))


def is_product(node: Node) -> bool:
    """True if a node is a product: no call of Python's, of which the rest is as NumPy has it."""
    return product_in(node.params) is not None


def computes_arrays(graph: Graph) -> bool:
    """True if kernels do more than read elements and compute with single numbers."""
    return any(output.node.type.size > 1 for output in graph.outputs) or any(
        may_reduce(node) and any(arg.type.size > 1 for arg in node.args) for node in graph.nodes
    )


def source(entry: Storage | ScalarInput) -> Source:
    """Where a replay finds a graph input, and the dtype that a scalar is cast to."""
    if isinstance(entry, ScalarInput):
        operand, dtype = entry.operand, entry.dtype
        if operand.slot == CONSTANT:
            return CONSTANT, scalar_of(entry.value, dtype)
        return operand.slot, Part(entry.part, dtype) if entry.part else dtype
    return entry.slot, entry.dtype if entry.scalar else None
