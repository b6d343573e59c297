"""The result of a recording as a template that a replay can build."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from runmat_jit.capture.record.containers import rebuilt_of
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.shadow_copies import ShadowCopy
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.entries import Nest, Ref, Return, WriteBack
from runmat_jit.capture.tape.pytree import Structure, is_namedtuple, take_apart
from runmat_jit.capture.tape.values import CONSTANTS, DEPTH_LIMIT, Unencodable


def encode_result(recording: Recording, result: Any) -> Return | None:
    """The result as a template over slots; None if it holds what no template can rebuild.

    A replay does to the arguments first what was changed in them, then builds the result.
    """
    templates = Templates(recording)
    try:
        backs = tuple([back for twin in recording.shadows.all if (back := templates.edits(twin))])
        tree = templates.of(result)
    except Unencodable as reason:
        recording.effect("result-not-rebuildable", str(reason))
        return None
    return Return(tree, backs)


class Templates:
    """Makes templates; a list or dict that occurs twice is built once."""

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
        if type(value) is slice:
            apart = Structure(slice), [value.start, value.stop, value.step]
        apart = apart or rebuilt_of(self.recording.owns, value)
        if apart is None and is_namedtuple(value):
            apart = take_apart(value)
        if apart is None and dataclasses.is_dataclass(value):
            raise Unencodable(f"a result of type {type(value).__name__}")
        if apart is None:
            return self.recording.encode(value)
        structure, children = apart
        require_keys(structure.names)
        if depth > DEPTH_LIMIT:
            raise Unencodable("containers nested too deeply")
        found = self.made.get(id(value))
        if found is not None:
            return Ref(found[1])
        items = tuple([self.of(child, depth + 1) for child in children])
        if isinstance(value, (tuple, slice)):
            return Nest(structure, items)
        slot = self.recording.slot()
        self.made[id(value)] = value, slot
        return Nest(structure, items, slot)

    def edits(self, twin: ShadowCopy) -> WriteBack | None:
        """What the program has changed in a container.

        Raises:
            Unencodable: it was found outside, and code that no hook sees has changed its copy.

        """
        changed = twin.edits()
        if changed is None:
            return None
        if not twin.argument:
            raise Unencodable("a container from outside was changed unseen")
        structure, children = twin.state()
        require_keys(structure.names)
        values = [twin.before[n] for n in changed.olds] + [children[n] for n in changed.news]
        items = tuple([self.of(value, 1) for value in values])
        return WriteBack(twin.slot, changed, Nest(list, items))


def require_keys(keys: Iterable[Any]) -> None:
    """Refuse keys that are not the same in every call.

    Raises:
        Unencodable: one of them is, or holds, an object or a traced value.

    """
    for key in keys:
        if type(key) is Traced or not isinstance(key, (*CONSTANTS, tuple, frozenset)):
            raise Unencodable(f"a key of type {type(key).__name__}")
        if isinstance(key, (tuple, frozenset)):
            require_keys(key)
