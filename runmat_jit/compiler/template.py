"""Programs for shapes that no recording has seen: the numbers of one program as formulas.

The stages compute a program's numbers (extents, strides, counts, sizes) from the extents of its
inputs and from nothing else. Given extents that remember their formulas they make a template: the
same kernels, with a formula for each number, and the conditions under which the stages would have
taken the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runmat_jit.compiler.binding import Bound
from runmat_jit.compiler.compiler import EventFinder, place
from runmat_jit.compiler.program import Buffer, Commit, Layout, NativeProgram
from runmat_jit.core.extent import Extent, Scope
from runmat_jit.core.types import TensorType
from runmat_jit.graph.node import Fresh, Graph, GraphBuilder, Into, Node, Output
from runmat_jit.lower.lower import lower
from runmat_jit.passes.fusion.grower import grow
from runmat_jit.passes.pipeline import optimize
from runmat_jit.plan.make_plan import make_plan
from runmat_jit.runtime.session import Session

if TYPE_CHECKING:
    from runmat_jit.backends.reference.events import EventReport


@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """A program whose numbers are formulas over the symbols of a scope."""

    session: Session
    scope: Scope
    captured: Graph
    layout: Layout
    launches: tuple[Bound, ...]
    places: dict[Node, int]

    def numbers(self) -> list[int]:
        """The formulas, in the order in which ``at`` takes their values."""
        return list(numbers_of(self.layout, self.launches))

    def at(self, numbers: Sequence[int], symbols: Sequence[int]) -> NativeProgram:
        """The program for given values of the formulas and of the symbols."""
        layout, launches = with_numbers(self.layout, self.launches, iter(numbers))
        events = LateEvents(self.captured, self.scope, tuple(symbols))
        return NativeProgram(self.session, layout, launches, events, self.places)

    def describes(self, program: NativeProgram, numbers: Sequence[int]) -> bool:
        """Whether a program, compiled for a shape, is the template's with these numbers."""
        return list(numbers) == list(numbers_of(program.layout, program.launches)) and structure_of(
            self.layout, self.launches
        ) == structure_of(program.layout, program.launches)


def make_template(
    session: Session, graph: Graph, scope: Scope, disabled: frozenset[str]
) -> Template:
    """Take a graph whose extents are symbols of ``scope`` through every stage."""
    optimized = optimize(graph)
    plan = make_plan(optimized, grow(optimized, disabled))
    launches = tuple(lower(region, plan) for region in plan.regions)
    layout, bound, _, places = place(session, plan, launches)
    return Template(session, scope, graph, layout, bound, places)


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
        buffers.append(Buffer(buffer.place, shape, buffer.dtype, strides, next(numbers)))
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
        tuple((b.place, len(b.shape), b.dtype, b.strides is None) for b in layout.buffers),
        layout.copies,
        tuple(map(_structure_of_commit, layout.commits)),
        tuple((b.address, b.places, len(b.block), b.scalars) for b in launches),
        layout.fresh,
    )


def _structure_of_commit(commit: Commit) -> Hashable:
    return commit.source, commit.input, len(commit.shape), commit.whole


# -- events ----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class LateEvents:
    """Finds events by interpreting the captured graph, made for the shape when it is needed."""

    graph: Graph
    scope: Scope
    symbols: tuple[int, ...]

    def __call__(self, inputs: Sequence[Any], warn: frozenset[str]) -> Sequence[EventReport]:
        return EventFinder(concrete(self.graph, self.scope, self.symbols))(inputs, warn)


def concrete(graph: Graph, scope: Scope, symbols: Sequence[int]) -> Graph:
    """A graph of extents as a graph of the numbers that they have for these symbols."""
    formulas: dict[str, int] = {}

    def collect(value: Any) -> None:
        if isinstance(value, Extent):
            formulas.setdefault(value.name, value)  # type: ignore[arg-type]  # stands for an int
        elif isinstance(value, tuple):
            for item in value:
                collect(item)

    for node in graph.nodes:
        collect((node.type.shape, tuple(node.params.values())))
    for output in graph.outputs:
        if isinstance(output.target, Into):
            collect((output.target.offset, output.target.strides))
    values = scope.function(formulas.values())(*symbols)
    assert values is not None, "the conditions were met when the program was made"
    known = dict(zip(formulas, values, strict=True))
    return rebuilt(graph, lambda value: _plain(value, known))


def _plain(value: Any, known: dict[str, int]) -> Any:
    if isinstance(value, Extent):
        return known[value.name]
    return tuple([_plain(item, known) for item in value]) if isinstance(value, tuple) else value


def rebuilt(graph: Graph, number: Callable[[Any], Any]) -> Graph:
    """The same graph with ``number`` applied to shapes, parameters and places."""
    builder = GraphBuilder()
    made: dict[Node, Node] = {}
    nodes = [*graph.inputs, *(node for node in graph.nodes if node.op.name != "input")]
    for node in nodes:
        kind = TensorType(node.type.dtype, number(node.type.shape))
        params = {name: number(value) for name, value in node.params.items()}
        args = tuple(made[arg] for arg in node.args)
        if node.op.name == "input":
            strides = params["strides"]
            made[node] = builder.input(node.op, kind, strides, node.line)
        else:
            made[node] = builder.make(node.op, args, params, kind, node.line)
    outputs = []
    for output in graph.outputs:
        target: Fresh | Into = output.target
        if isinstance(target, Into):
            target = Into(target.input, number(target.offset), number(target.strides))
        outputs.append(Output(made[output.node], target))
    graph_of = builder.finish(outputs)
    return Graph(graph_of.inputs, tuple(made[node] for node in graph.nodes), graph_of.outputs)
