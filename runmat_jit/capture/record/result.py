"""The result of a recording as a template that a replay can build."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from runmat_jit.capture.record.containers import rebuilt_of
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import Nest, Ref, Return
from runmat_jit.capture.tape.pytree import is_namedtuple, take_apart
from runmat_jit.capture.tape.values import DEPTH_LIMIT, Unencodable

if TYPE_CHECKING:
    from runmat_jit.capture.record.shadow_copies import Twin
    from runmat_jit.capture.record.tracer import Tracer


def encode_result(tracer: Tracer, result: Any) -> Return | None:
    """The result as a template over slots; None if it holds what no template can rebuild.

    A replay writes the changed containers back first, then builds the result.
    """
    templates = Templates(tracer)
    try:
        changed = [twin for twin in tracer.twins.all if twin.argument and twin.changed()]
        backs = tuple([(twin.slot, templates.contents(twin)) for twin in changed])
        tree = templates.of(result)
    except Unencodable as reason:
        tracer.effect("result-not-rebuildable", str(reason))
        return None
    tracer.steps.need((tree, *(back for _, back in backs)))
    return Return(tree, backs)


class Templates:
    """Makes templates; a list or dict that turns up twice is built once."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.made: dict[int, tuple[Any, int]] = {}

    def of(self, value: Any, depth: int = 0) -> Any:
        """The template of a value; copies of containers stand for the originals.

        Raises:
            Unencodable: something whose identity or contents may change.

        """
        if type(value) is Traced:
            return self.tracer.encode(value)
        twin = self.tracer.twins.of_copy(value)
        if twin is not None:
            return Ref(twin.slot)
        slot = self.tracer.outside.slot_of(value)
        if slot is not None:
            return Ref(slot)
        apart = take_apart(value) if type(value) in (tuple, list, dict) else None
        apart = apart or rebuilt_of(self.tracer.owns, value)
        if apart is None and is_namedtuple(value):
            apart = take_apart(value)
        if apart is None and dataclasses.is_dataclass(value):
            raise Unencodable(f"a result of type {type(value).__name__}")
        if apart is None:
            return self.tracer.encode(value)
        structure, children = apart
        if depth > DEPTH_LIMIT:
            raise Unencodable("containers nested too deeply")
        found = self.made.get(id(value))
        if found is not None:
            return Ref(found[1])
        items = tuple([self.of(child, depth + 1) for child in children])
        if isinstance(value, tuple):
            return Nest(structure, items)
        slot = self.tracer.slot()
        self.made[id(value)] = value, slot
        return Nest(structure, items, slot)

    def contents(self, twin: Twin) -> Any:
        """The template of what a changed container is to hold."""
        apart = take_apart(twin.copy)
        assert apart is not None, "twins are containers"
        structure, children = apart
        return Nest(structure, tuple([self.of(child, 1) for child in children]))
