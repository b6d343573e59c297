"""The segments that one recording went along, as they are and for every shape."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from runmat_jit.capture.replay.steps import (
    BatchStep,
    CallStep,
    CheckStep,
    FreeStep,
    LengthStep,
    Numbers,
    ShapedBatchStep,
    ShapedCallStep,
    ShapesStep,
    SingleStep,
)
from runmat_jit.capture.replay.tree import Fork, Segment
from runmat_jit.capture.tape.entries import Return
from runmat_jit.core.extent import Scope


class Leg(NamedTuple):
    """A segment, and the outcome (of the fork before it) that led to it."""

    outcome: Hashable
    segment: Segment


Path = tuple[Leg, ...]


def path_of(segment: Segment) -> Path:
    """The segments of one recording, which are not yet where other calls add to them."""
    path = [Leg(None, segment)]
    while isinstance(leave := path[-1].segment.exit, Fork):
        ((outcome, (found,)),) = leave.outcomes.items()
        path.append(Leg(outcome, found))
    return tuple(path)


def shaped_path(path: Path, templates: Mapping[int, Any], extents: Numbers, scope: Scope) -> Path:
    """The path with batches for every shape; ``templates`` has those of each, by its identity."""
    made: list[Leg] = []
    for outcome, segment in reversed(path):
        steps = tuple(
            [shaped_step(step, templates.get(id(step)), extents, scope) for step in segment.steps]
        )
        leave = segment.exit
        if isinstance(leave, Fork):
            leave = Fork(leave.value, leave.outcome_of, {made[-1].outcome: (made[-1].segment,)})
        early = tuple([step for step in segment.early if not isinstance(step, LengthStep)])
        made.append(Leg(outcome, replace(segment, used=0, early=early, steps=steps, exit=leave)))
    return tuple(reversed(made))


def shaped_step(step: Any, template: Any, extents: Numbers, scope: Scope) -> Any:
    """A step for every shape."""
    if isinstance(step, BatchStep):
        return shaped(step, template, extents)
    if isinstance(step, CallStep) and step.shape is not None:
        return ShapedCallStep(
            step.fn,
            step.args,
            step.kwargs,
            step.out,
            step.structure,
            None,
            step.line,
            step.writes,
            step.upto,
            step.errstate,
            step.shape,
            scope.function(step.shape),
            extents,
        )
    return step


def shaped(batch: BatchStep, template: Any, extents: Numbers) -> ShapedBatchStep:
    """A batch for every shape."""
    return ShapedBatchStep(
        batch.program,
        batch.inputs,
        batch.outputs,
        batch.warn,
        batch.writes,
        batch.upto,
        template,
        extents,
    )


def batches_of(path: Path) -> list[BatchStep]:
    """The batches of a path, in order."""
    return [step for leg in path for step in leg.segment.steps if isinstance(step, BatchStep)]


def lengths_of(path: Path) -> tuple[LengthStep, ...]:
    """The lengths that the program asked for."""
    steps = [step for leg in path for step in leg.segment.early]
    return tuple([step for step in steps if isinstance(step, LengthStep)])


def shapes_of(path: Path) -> tuple[tuple[int, ...], ...]:
    """The shapes, in formulas, of arrays that NumPy's own calls make."""
    steps = [step for leg in path for step in leg.segment.steps]
    return tuple([s.shape for s in steps if isinstance(s, CallStep) and s.shape is not None])


def is_plain(path: Path, *, hosted: bool = False) -> bool:
    """True if a path leads to the end of a call, by steps that say the same for every shape.

    ``hosted``: but for arrays that NumPy's own calls make.
    """
    steps = [step for leg in path for step in (*leg.segment.early, *leg.segment.steps)]
    return (
        isinstance(path[-1].segment.exit, Return)
        and all(
            isinstance(step, SingleStep | BatchStep | CheckStep | FreeStep | LengthStep)
            or (isinstance(step, CallStep) and (hosted or says_the_same(step)))
            for step in steps
        )
        and not any(tells_shapes(leg.outcome) for leg in path)
    )


def says_the_same(call: CallStep) -> bool:
    """True if what is known of a result is so for every shape."""
    return call.shape is not None or not tells_shapes(call.structure)


def tells_shapes(structure: Any) -> bool:
    """True if a structure, or an outcome, is that of an array."""
    if isinstance(structure, tuple):
        return any(map(tells_shapes, structure))
    return structure is np.ndarray


def outline(segment: Segment) -> Hashable:
    """Everything about a plain segment but its programs, guards and reads, and what it forgets.

    Of what follows it says where Python decides, not how.
    """
    return (
        segment.start,
        segment.size,
        len(segment.early),
        len(segment.names),
        len(segment.reads),
        tuple([_outline_of_step(step) for step in segment.steps if not isinstance(step, FreeStep)]),
        _outline_of_exit(segment.exit),
    )


def _outline_of_step(step: Any) -> Hashable:
    if isinstance(step, BatchStep):
        return "batch", step.inputs, step.outputs, step.warn, step.writes, step.upto
    if isinstance(step, CallStep):
        known: Any = step.structure
        if step.shape is not None:  # type, dtype, number of axes
            known = *known[:2], len(step.shape)
        return "call", str(step), known, step.writes, step.upto
    return type(step).__name__, str(step)


def _outline_of_exit(leave: Fork | Return) -> Hashable:
    if isinstance(leave, Fork):
        return repr(leave.value), leave.outcome_of
    return repr(leave)


def fits(segment: Segment, extents: tuple[int, ...]) -> bool:
    """True if a segment may be run for these extents."""
    conditions = [step for step in segment.early if isinstance(step, ShapesStep)]
    return all(step.holds(*extents) is not None for step in conditions)


def programs_of(segments: Sequence[Segment], extents: tuple[int, ...]) -> tuple[Any, ...]:
    """The programs of segments for every shape, as they are compiled for these extents."""
    steps = [step for segment in segments for step in segment.steps]
    return tuple([step.template.at(extents) for step in steps if isinstance(step, ShapedBatchStep)])
