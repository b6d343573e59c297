"""Knowledge of a decorated function that explanations are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runmat_jit.capture.record.records import Record
from runmat_jit.capture.shapes.paths import programs_of
from runmat_jit.capture.source.refusal import Refused

if TYPE_CHECKING:
    from runmat_jit.capture.function import CapturedFunction
    from runmat_jit.capture.replay.key import Key
    from runmat_jit.capture.replay.tree import Fork


def loops_of(captured: CapturedFunction) -> tuple[str, ...]:
    """Return the loops of a function that may run natively, and how each runs."""
    capturer = captured.capturer
    known = capturer.executor.loops()
    found = capturer.rewriter.find(captured.fn, captured.carried)
    if known is None or isinstance(found, Refused):
        return ()
    lines = {loop.line: known.report(loop) for loop in found.loops}
    lines |= {line: f"in Python: {why}" for line, why in found.refused_loops.items()}
    return tuple([f"line {line}: {lines[line]}" for line in sorted(lines)])


def record_of(
    captured: CapturedFunction, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Record | None:
    """Return the record of calls like this one, if there is one."""
    return record_at(captured, captured.key_of(args, kwargs))


def record_at(captured: CapturedFunction, key: Key) -> Record | None:
    """Return the record of calls with a key, if there is one."""
    try:
        found = captured.records.get(key)
        family = captured.families.of(key) if found is None else None
    except TypeError:
        return None
    segments = [] if family is None else family.latest(key[1])
    if family is None or not segments:
        return found
    made = Record(root=family.root, programs=programs_of(segments, key[1]))
    made.look_at([entry for segment in segments for entry in segment.log])
    return made


def trees_of(captured: CapturedFunction) -> list[Fork]:
    """Return the trees of all calls."""
    roots = [record.root for record in list(captured.records.values())]
    return roots + [family.root for family in list(captured.families.known.values())]
