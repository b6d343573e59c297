"""``x.flags`` and ``x.base`` of a traced array: facts that a trace is recorded for, and others."""

from __future__ import annotations

from typing import Any, Final

from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.shapes import symbolic_geometry
from runmat_jit.capture.tape.call_forms import FlagOf
from runmat_jit.capture.tape.entries import Ref

_OF_LAYOUT: Final = frozenset(
    (
        *("c_contiguous", "f_contiguous", "contiguous", "fortran", "fnc", "forc", "behaved"),
        *("carray", "farray", "aligned", "writeable"),
    )
)
_OF_MEMORY: Final = frozenset(("owndata", "writebackifcopy", "num"))
_SHORT: Final = {
    "C": "c_contiguous",
    "F": "f_contiguous",
    "W": "writeable",
    "A": "aligned",
    "O": "owndata",
    "X": "writebackifcopy",
    "B": "behaved",
    "CA": "carray",
    "FA": "farray",
}


class TracedFlags:
    """The flags of a traced array."""

    __slots__ = ("_rm_value",)

    def __init__(self, value: Traced) -> None:
        object.__setattr__(self, "_rm_value", value)

    def __getattr__(self, name: str) -> Any:
        value: Traced = self._rm_value
        tracer = value._rm_tracer
        if name in _OF_LAYOUT and not tracer.passive:
            symbolic_geometry.settle(value._rm_geometry)  # the answer is for these extents
            known = value._rm_held is None or value._rm_geometry is not None
            array = tracer.stand_in(value) if known else value._rm_held
            return getattr(array.flags, name)
        if name in _OF_MEMORY:
            return tracer.call(FlagOf(name), (value,), {})
        return getattr(tracer.value(value).flags, name)

    def __getitem__(self, key: Any) -> Any:
        name = _SHORT.get(key, key.lower()) if type(key) is str and key.isupper() else ""
        if name in _OF_LAYOUT or name in _OF_MEMORY - {"num"}:
            return getattr(self, name)
        return self.real(f"the flag {key} is read")[key]

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.real(f"the flag {name} is set"), name, value)

    def __repr__(self) -> str:
        return repr(self.real("flags are shown"))

    def __eq__(self, other: object) -> bool:
        if type(other) is TracedFlags:
            other = other.real("flags are compared")
        return bool(self.real("flags are compared") == other)

    def __hash__(self) -> int:
        return hash(self.real("flags are hashed"))

    def real(self, detail: str) -> Any:
        """The array's own flags, for what is not captured."""
        value: Traced = self._rm_value
        return value._rm_tracer.leak(value, detail).flags


def read(value: Traced, name: str) -> Any:
    """``x.flags`` or ``x.base``."""
    return TracedFlags(value) if name == "flags" else base_of(value)


def base_of(value: Traced) -> Any:
    """``x.base`` of a traced array: the array at the root of its views, if that owns its memory."""
    tracer, root = value._rm_tracer, value
    while root._rm_origin is not None:
        root = root._rm_origin[0]
    at = root._rm_geometry
    memory = root._rm_held if at is None or at.storage.memory is None else at.storage.memory
    if memory is not None and memory.base is not None:
        return tracer.leak(value, "its base").base
    if tracer.is_input(root):
        tracer.outside.read(
            ("base", root._rm_slot),
            lambda slots: slots[root._rm_slot].base,
            None,
            f"the base of {Ref(root._rm_slot)}",
        )
    return None if root is value else root
