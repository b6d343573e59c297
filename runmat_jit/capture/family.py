"""Calls that differ in the extents of their arrays alone: recorded twice, then computed.

The first call of a family is recorded as any other. The second is recorded with extents that
remember their formulas, which gives a template of its segment: the conditions under which another
shape would have been recorded alike, and its programs as formulas. The third call that meets the
conditions is recorded again, and its segment compared with what the template gives; if they are
equal, later shapes are not recorded at all.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from runmat_jit.capture.tape import Return
from runmat_jit.capture.trace import Batch, Call, Check, Free
from runmat_jit.capture.tree import Segment
from runmat_jit.core.extent import Scope
from runmat_jit.core.protocols import Executor, Template
from runmat_jit.core.types import c_strides
from runmat_jit.graph.node import Graph

LOG = logging.getLogger("runmat_jit")
FAMILIES = 64
CANDIDATES = 4
"""Templates of one family: conditions divide its shapes."""
FAILURES = 3
"""Templates that were wrong, after which a family is recorded for each shape."""


class Symbols:
    """The extents of one call's arguments as symbols, and the graphs that were made of them."""

    def __init__(self, leaves: Sequence[Any]) -> None:
        self.scope = Scope()
        self.graphs: list[Graph] = []
        self.usable = True
        self.shapes: dict[int, tuple[int, ...]] = {}
        for slot, leaf in enumerate(leaves):
            if type(leaf) is np.ndarray and is_plain_layout(leaf.shape, leaf.strides, leaf.dtype):
                self.shapes[slot] = tuple(
                    [n if n < 2 else self.scope.symbol(n) for n in leaf.shape]
                )


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A segment whose programs are templates; ``numbers`` gives all their numbers, in order."""

    segment: Segment
    templates: tuple[Template, ...]
    numbers: Callable[..., tuple[int, ...] | None]
    counts: tuple[int, ...]

    def parts(self, extents: Sequence[int]) -> list[tuple[int, ...]] | None:
        """The numbers of each program for these extents; None where a condition fails."""
        numbers = self.numbers(*extents)
        if numbers is None:
            return None
        parts, begin = [], 0
        for count in self.counts:
            parts.append(numbers[begin : begin + count])
            begin += count
        return parts

    def at(self, extents: Sequence[int]) -> Segment | None:
        """The segment for these extents."""
        parts = self.parts(extents)
        if parts is None:
            return None
        programs = iter(
            [
                template.at(part, extents)
                for template, part in zip(self.templates, parts, strict=True)
            ]
        )
        steps = tuple(
            replace(step, program=next(programs)) if isinstance(step, Batch) else step
            for step in self.segment.steps
        )
        return replace(self.segment, steps=steps, used=0)

    def describes(self, segment: Segment, extents: Sequence[int]) -> bool | None:
        """Whether it gives a segment that was recorded; None where a condition fails."""
        parts = self.parts(extents)
        if parts is None:
            return None
        if not is_plain(segment) or outline(segment) != outline(self.segment):
            return False
        recorded = [step.program for step in segment.steps if isinstance(step, Batch)]
        return all(
            template.describes(program, part)
            for template, program, part in zip(self.templates, recorded, parts, strict=True)
        )


@dataclass(slots=True, eq=False)
class Family:
    """What is known of calls that differ in extents alone."""

    known: bool = False
    """Whether a call has left a segment that could have a template."""
    trusted: tuple[Candidate, ...] = ()
    untried: tuple[Candidate, ...] = ()
    failures: int = 0

    @property
    def open(self) -> bool:
        """Whether another template is worth its recording."""
        count = len(self.trusted) + len(self.untried)
        return self.known and self.failures < FAILURES and count < CANDIDATES


@dataclass(slots=True)
class Families:
    """The families of one function's calls."""

    known: OrderedDict[Hashable, Family] = field(default_factory=OrderedDict)

    def segment(self, key: tuple[Hashable, ...]) -> Segment | None:
        """The segment of a call that was never recorded, from a template that proved right."""
        found = family_key(key)
        family = None if found is None else self.known.get(found[0])
        if found is None or family is None:
            return None
        for candidate in family.trusted:
            segment = candidate.at(found[1])
            if segment is not None:
                return segment
        return None

    def symbols(self, key: tuple[Hashable, ...], leaves: Sequence[Any]) -> Symbols | None:
        """Symbols to record a call with, if its family wants a template."""
        found = family_key(key)
        family = None if found is None else self.known.get(found[0])
        if found is None or family is None or not family.open:
            return None
        if any(candidate.parts(found[1]) is not None for candidate in family.untried):
            return None  # this call is to be compared with it
        return Symbols(leaves)

    def learn(
        self,
        key: tuple[Hashable, ...],
        segment: Segment,
        symbols: Symbols | None,
        executor: Executor,
    ) -> None:
        """Take in what a recording gave: compare it with templates, or make one of it."""
        found = family_key(key)
        if found is None:
            return
        family = self.known.setdefault(found[0], Family())
        if len(self.known) > FAMILIES:
            self.known.popitem(last=False)
        for candidate in family.untried:
            right = candidate.describes(segment, found[1])
            if right is None:
                continue
            family.untried = tuple(c for c in family.untried if c is not candidate)
            if right:
                family.trusted = (*family.trusted, candidate)
            else:
                family.failures += 1
        if not is_plain(segment):
            return
        family.known = True
        if symbols is not None:
            made = candidate_of(segment, symbols, executor)
            if made is None:
                family.failures += 1
            else:
                family.untried = (*family.untried, made)


def candidate_of(segment: Segment, symbols: Symbols, executor: Executor) -> Candidate | None:
    """The template of a segment that was recorded with symbols."""
    batches = [step for step in segment.steps if isinstance(step, Batch)]
    if not symbols.usable or len(batches) != len(symbols.graphs):
        return None
    templates = []
    for graph in symbols.graphs:
        try:
            template = executor.template(graph, symbols.scope)
        except Exception:  # the call has its result, and must not fail for the sake of later ones
            LOG.exception("no template was made; please report this")
            return None
        if template is None:
            return None
        templates.append(template)
    numbers = [template.numbers() for template in templates]
    function = symbols.scope.function([number for part in numbers for number in part])
    symbols.scope.close()
    return Candidate(segment, tuple(templates), function, tuple(map(len, numbers)))


def is_plain(segment: Segment) -> bool:
    """Whether a segment is a whole call, of steps that say the same for every shape."""
    return isinstance(segment.exit, Return) and all(
        isinstance(step, Batch | Check | Free) or (isinstance(step, Call) and step.check is None)
        for step in (*segment.early, *segment.steps)
    )


def outline(segment: Segment) -> Hashable:
    """Everything about a plain segment but its programs, guards and reads."""
    return (
        segment.start,
        segment.size,
        len(segment.early),
        len(segment.names),
        len(segment.reads),
        tuple(map(_outline_of_step, segment.steps)),
        repr(segment.exit),
    )


def _outline_of_step(step: Any) -> Hashable:
    if isinstance(step, Batch):
        return "batch", step.inputs, step.outputs, step.warn, step.writes, step.upto
    if isinstance(step, Call):
        return "call", str(step.op), step.writes, step.upto
    return type(step).__name__, step.slots if isinstance(step, Free) else str(step)


def family_key(key: tuple[Hashable, ...]) -> tuple[Hashable, tuple[int, ...]] | None:
    """What a call's key has in common with others of its family, and its extents."""
    parts: list[Hashable] = []
    extents: list[int] = []
    for part in key:
        if type(part) is tuple and len(part) == 4 and isinstance(part[0], np.dtype):
            dtype, shape, strides, flags = part
            if is_plain_layout(shape, strides, dtype):
                extents += [n for n in shape if n > 1]
                parts.append((dtype, tuple([n if n < 2 else None for n in shape]), flags))
                continue
        parts.append(part)
    return (tuple(parts), tuple(extents)) if extents else None


def is_plain_layout(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether elements lie in C order without gaps."""
    size = dtype.itemsize
    return strides == tuple([step * size for step in c_strides(shape)])
