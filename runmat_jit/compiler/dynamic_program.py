"""Programs of dynamic shapes: their numbers are formulas over the extents of the inputs.

The stages compute a program's numbers (extents, strides, counts, sizes) from the extents of its
inputs and from nothing else. Given extents that remember their formulas they make the same kernels,
with a formula for each number, and the conditions under which the stages would have taken the same
decisions.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from runmat_jit.compiler.events import AT_FIRST, Way
from runmat_jit.compiler.generate_wrapper import Report, Run, generate_wrapper, numbers_of
from runmat_jit.compiler.host_step import HostArray, HostNumber, HostScalar, HostStep
from runmat_jit.compiler.lower_program import LoweredProgram, lower_program, on_cpu, with_notes
from runmat_jit.compiler.native_code import Bound, NativeCode
from runmat_jit.compiler.native_program import NativeProgram
from runmat_jit.core.extent import Scope
from runmat_jit.core.frozen import frozen_object
from runmat_jit.graph.node import Graph
from runmat_jit.graph.renumber import named
from runmat_jit.plan.layout import Buffer, Commit
from runmat_jit.runtime.session import Session

Extents = tuple[int, ...]


@frozen_object
class DynamicProgram:
    """A program whose numbers are formulas over the symbols of a scope, made at ``extents``.

    ``given``: the scope of its graph, whose conditions are met wherever it runs; ``way``: how its
    kernels note events.
    """

    given: Scope
    scope: Scope
    extents: Extents
    code: NativeCode
    run: Run
    way: Way = AT_FIRST

    def holds(self, extents: Extents) -> bool:
        """True if the stages would have decided alike."""
        return self.scope.values(extents) is not None

    def describes(self, program: Any, extents: Extents) -> bool:
        """True if a program, compiled for extents that it holds for, is this one."""
        native, values = getattr(program, "program", None), self.scope.values(extents)
        assert values is not None, "it holds for these extents"
        if self.way != AT_FIRST and isinstance(native, NativeProgram):
            native = native.watch.noting(self.way[0])
        if not isinstance(native, NativeProgram) or native.blind is not self.code.blind:
            return False
        names = map(self.scope.name, numbers_of(self.code))
        numbers = [values[name] if name in values else int(name.strip("()")) for name in names]
        same = structure_of(self.code) == structure_of(native.code)
        return same and numbers == list(numbers_of(native.code))


def make_dynamic_program(
    session: Session,
    graph: Graph,
    scope: Scope,
    extents: Extents,
    report: Report,
    *,
    way: Way = AT_FIRST,
) -> DynamicProgram:
    """Take a graph of extents, with these values, through every stage.

    Args:
        session: Where the program runs.
        graph: A graph whose extents are formulas of ``scope``.
        scope: Symbols and formulas, whose conditions these extents meet.
        extents: A value for each symbol.
        report: Reports the events of a run.
        way: How kernels note events.

    """
    moved, values = scope.moved(extents)
    disabled = session.config.disable_fusion
    lowered: LoweredProgram | None = lower_program(session, named(graph, values), disabled=disabled)
    if way != AT_FIRST:
        assert lowered is not None
        lowered = with_notes(session, on_cpu(lowered), *way)
    assert lowered is not None, "the CPU notes events in all ways"
    code = lowered.code
    assert code is not None, "this machine runs kernels"
    run = generate_wrapper(session, moved, code, report, tells=way != AT_FIRST)
    moved.close()
    return DynamicProgram(scope, moved, extents, code, run, way)


# -- everything about a program that no number says ------------------------------------------------
def structure_of(code: NativeCode) -> Hashable:
    """Equal for programs that differ in numbers alone."""
    layout = code.layout
    return (
        layout.inputs,
        layout.tables,
        tuple(map(_structure_of_buffer, layout.buffers)),
        layout.copies,
        tuple(map(_structure_of_commit, layout.commits)),
        tuple(map(_structure_of_launch, code.launches)),
        tuple(map(_structure_of_call, code.calls)),
        layout.fresh,
        layout.written,
    )


def _structure_of_launch(bound: Bound) -> Hashable:
    return bound.address, bound.places, len(bound.block), bound.scalars


def _structure_of_call(step: HostStep) -> Hashable:
    operands = tuple(map(_structure_of_operand, step.operands))
    return step.before, step.call, operands, step.place, step.strides is None, step.idle


def _structure_of_operand(operand: HostArray | HostScalar | HostNumber) -> Hashable:
    if isinstance(operand, HostArray):
        return operand.place, len(operand.shape), operand.dtype, operand.strides is None
    if isinstance(operand, HostScalar):
        return operand
    value = operand.value
    return operand.dtype, value.tobytes() if isinstance(value, np.generic) else None


def _structure_of_buffer(buffer: Buffer) -> Hashable:
    kind = len(buffer.shape), buffer.dtype, buffer.strides is None
    return buffer.place, kind, buffer.shares, buffer.returned, len(buffer.sizes)


def _structure_of_commit(commit: Commit) -> Hashable:
    return commit.source, commit.input, len(commit.shape), commit.whole
