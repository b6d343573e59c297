"""Programs for shapes that no recording has seen: the numbers of one program as formulas.

The stages compute a program's numbers (extents, strides, counts, sizes) from the extents of its
inputs and from nothing else. Given extents that remember their formulas they make a template: the
same kernels, with a formula for each number, and the conditions under which the stages would have
taken the same decisions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runmat_jit.compiler.binding import Bound
from runmat_jit.compiler.compiler import Compiled, Compiler, EventFinder, place
from runmat_jit.compiler.program import Buffer, Commit, Layout, NativeProgram
from runmat_jit.core.extent import Scope
from runmat_jit.graph.node import Graph, Node
from runmat_jit.graph.renumber import concrete
from runmat_jit.lower.lower import lower
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.make_plan import make_plan

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport
    from runmat_jit.kernel.ir import Kernel
    from runmat_jit.lower.launch import Launch
    from runmat_jit.plan.plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A program whose numbers are formulas over the symbols of a scope."""

    compiler: Compiler
    scope: Scope
    captured: Graph
    layout: Layout
    launches: tuple[Bound, ...]
    places: dict[Node, int]

    def numbers(self) -> list[int]:
        """The formulas, in the order in which ``at`` takes their values."""
        return list(numbers_of(self.layout, self.launches))

    def at(self, numbers: Sequence[int], symbols: Sequence[int]) -> Instance:
        """The program for given values of the formulas and of the symbols."""
        return Instance(self, tuple(numbers), tuple(symbols))

    def describes(self, program: Any, numbers: Sequence[int]) -> bool:
        """Whether a program, compiled for a shape, is the template's with these numbers."""
        native = getattr(program, "program", None)
        return (
            isinstance(native, NativeProgram)
            and list(numbers) == list(numbers_of(native.layout, native.launches))
            and structure_of(self.layout, self.launches)
            == structure_of(native.layout, native.launches)
        )


class Instance:
    """A template's program for one shape; what explanations ask for is compiled when they ask."""

    device, device_reason = "cpu", ""

    def __init__(
        self, template: Template, numbers: tuple[int, ...], symbols: tuple[int, ...]
    ) -> None:
        self._template, self._symbols = template, symbols
        layout, launches = with_numbers(template.layout, template.launches, iter(numbers))
        session = template.compiler.session
        blind = any(0 in buffer.shape for buffer in layout.buffers)  # no argument is empty
        self.program = NativeProgram(
            session, layout, launches, self._events, template.places, blind=blind
        )
        self.run = self.program.run

    @cached_property
    def captured(self) -> Graph:
        """The graph for this shape."""
        return concrete(self._template.captured, self._template.scope, self._symbols)

    @cached_property
    def compiled(self) -> Compiled:
        """The program that the compiler makes for this shape: equal, with all that led to it."""
        return self._template.compiler.compile(self.captured)

    @property
    def plan(self) -> Plan:
        return self.compiled.plan

    @property
    def launches(self) -> tuple[tuple[Launch, ...], ...]:
        return self.compiled.launches

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        return self.compiled.kernels

    def _events(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]:
        return EventFinder(self.captured)(inputs, warn)


def make_template(compiler: Compiler, graph: Graph, scope: Scope) -> Template:
    """Take a graph whose extents are symbols of ``scope`` through every stage."""
    session = compiler.session
    optimized = optimize(graph)
    plan = make_plan(optimized, grow(optimized, session.config.disable_fusion))
    launches = tuple(lower(region, plan) for region in plan.regions)
    layout, bound, _, places = place(session, plan, launches)
    return Template(compiler, scope, graph, layout, bound, places)


# -- the numbers of a program ----------------------------------------------------------------------
def numbers_of(layout: Layout, launches: Sequence[Bound]) -> Iterator[int]:
    """Every number that depends on extents, in a fixed order."""
    for buffer in layout.buffers:
        yield from (*buffer.shape, *(buffer.strides or ()), buffer.nbytes)
    for commit in layout.commits:
        yield from (commit.offset, *commit.shape, *commit.strides)
    for launch in launches:
        yield from (*launch.offsets, *launch.block, launch.total, launch.grain, launch.nbytes)


def with_numbers(
    layout: Layout, launches: Sequence[Bound], numbers: Iterator[int]
) -> tuple[Layout, tuple[Bound, ...]]:
    """The same with other numbers."""

    def take(count: int) -> tuple[int, ...]:
        return tuple([next(numbers) for _ in range(count)])

    buffers, commits, bound = [], [], []
    for buffer in layout.buffers:
        rank = len(buffer.shape)
        shape, strides = take(rank), None if buffer.strides is None else take(rank)
        buffers.append(replace(buffer, shape=shape, strides=strides, nbytes=next(numbers)))
    for commit in layout.commits:
        offset, rank = next(numbers), len(commit.shape)
        commits.append(replace(commit, offset=offset, shape=take(rank), strides=take(rank)))
    for launch in launches:
        offsets, block = take(len(launch.offsets)), take(len(launch.block))
        total, grain, nbytes = take(3)
        bound.append(
            replace(launch, offsets=offsets, block=block, total=total, grain=grain, nbytes=nbytes)
        )
    filled = replace(layout, buffers=tuple(buffers), commits=tuple(commits))
    return filled, tuple(bound)


def structure_of(layout: Layout, launches: Sequence[Bound]) -> Hashable:
    """Everything about a program that no number says."""
    return (
        layout.inputs,
        len(layout.constants),
        tuple(map(_structure_of_buffer, layout.buffers)),
        layout.copies,
        tuple(map(_structure_of_commit, layout.commits)),
        tuple((b.address, b.places, len(b.block), b.scalars) for b in launches),
        layout.fresh,
    )


def _structure_of_buffer(buffer: Buffer) -> Hashable:
    return buffer.place, len(buffer.shape), buffer.dtype, buffer.strides is None, buffer.shares


def _structure_of_commit(commit: Commit) -> Hashable:
    return commit.source, commit.input, len(commit.shape), commit.whole
