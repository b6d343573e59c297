"""The result of a recording as a template that a replay can build."""

from __future__ import annotations

import dataclasses
from typing import Any

from runmat_jit.capture.record.containers import rebuilt_of
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.shadow_copies import ShadowCopy
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import Nest, Ref, Return
from runmat_jit.capture.tape.pytree import is_namedtuple, take_apart
from runmat_jit.capture.tape.values import DEPTH_LIMIT, Unencodable


def encode_result(recording: Recording, result: Any) -> Return | None:
    """The result as a template over slots; None if it holds what no template can rebuild.

    A replay writes the changed containers back first, then builds the result.
    """
    templates = Templates(recording)
    try:
        changed = [twin for twin in recording.shadows.all if twin.argument and twin.changed()]
        backs = tuple([(twin.slot, templates.contents(twin)) for twin in changed])
        tree = templates.of(result)
    except Unencodable as reason:
        recording.effect("result-not-rebuildable", str(reason))
        return None
    return Return(tree, backs)


class Templates:
    """Makes templates; a list or dict that turns up twice is built once."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.made: dict[int, tuple[Any, int]] = {}

    def of(self, value: Any, depth: int = 0) -> Any:
        """The template of a value; copies of containers stand for the originals.

        Raises:
            Unencodable: something whose identity or contents may change.

        """
        if type(value) is Traced:
            return self.recording.encode(value)
        twin = self.recording.shadows.of_copy(value)
        if twin is not None:
            return Ref(twin.slot)
        slot = self.recording.slot_of(value)
        if slot is not None:
            return Ref(slot)
        apart = take_apart(value) if type(value) in (tuple, list, dict) else None
        apart = apart or rebuilt_of(self.recording.owns, value)
        if apart is None and is_namedtuple(value):
            apart = take_apart(value)
        if apart is None and dataclasses.is_dataclass(value):
            raise Unencodable(f"a result of type {type(value).__name__}")
        if apart is None:
            return self.recording.encode(value)
        structure, children = apart
        if depth > DEPTH_LIMIT:
            raise Unencodable("containers nested too deeply")
        found = self.made.get(id(value))
        if found is not None:
            return Ref(found[1])
        items = tuple([self.of(child, depth + 1) for child in children])
        if isinstance(value, tuple):
            return Nest(structure, items)
        slot = self.recording.slot()
        self.made[id(value)] = value, slot
        return Nest(structure, items, slot)

    def contents(self, twin: ShadowCopy) -> Any:
        """The template of what a changed container is to hold."""
        apart = take_apart(twin.copy)
        assert apart is not None, "twins are containers"
        structure, children = apart
        return Nest(structure, tuple([self.of(child, 1) for child in children]))
