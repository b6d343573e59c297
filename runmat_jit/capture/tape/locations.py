"""Locations of outside state: a replay calls their readers, native code reads their memory."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from typing import Any, Final

from runmat_jit.capture.tape.entries import Ref
from runmat_jit.capture.tape.pytree import Structure
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.protocols import Get

_MISSING: Final = object()


@frozen_object
class Global:
    """A global or builtin name."""

    namespace: dict[str, Any]
    name: str

    def __call__(self, _slots: list[Any]) -> Any:
        found = self.namespace.get(self.name, _MISSING)
        return getattr(builtins, self.name) if found is _MISSING else found


@frozen_object
class Cell:
    """A variable of an enclosing function."""

    cell: types.CellType

    def __call__(self, _slots: list[Any]) -> Any:
        return self.cell.cell_contents


@frozen_object
class Attribute:
    """An attribute of an object, or of the one in a slot."""

    owner: Any
    name: str

    def __call__(self, slots: list[Any]) -> Any:
        owner = self.owner
        return getattr(slots[owner.slot] if type(owner) is Ref else owner, self.name)


@frozen_object
class Lent:
    """An array of ours in a place: the ndarray that stands for it in the call that runs."""

    place: Get
    lend: Callable[[Any], Any]

    def __call__(self, slots: list[Any]) -> Any:
        return self.lend(self.place(slots))


@frozen_object
class Item:
    """An item of the container in a slot."""

    slot: int
    key: Any

    def __call__(self, slots: list[Any]) -> Any:
        return slots[self.slot][self.key]


@frozen_object
class Length:
    """Number of items the container in a slot has."""

    slot: int

    def __call__(self, slots: list[Any]) -> int:
        return len(slots[self.slot])


@frozen_object
class Keys:
    """The keys of the dict in a slot, with their classes."""

    slot: int

    def __call__(self, slots: list[Any]) -> Any:
        return Structure(dict, tuple(slots[self.slot])).key
