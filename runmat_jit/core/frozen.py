"""Classes of immutable values, cheap to define and to make.

``dataclass(frozen=True)`` makes instances four times as slowly, for it has to go around its own
``__setattr__``. Here type checkers alone see to it that nothing is assigned, but for the values
that users hold.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, field
from typing import Any, NoReturn, TypeVar, dataclass_transform

from runmat_jit.core.slotted import define

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances are compared, hashed and shown by their fields.

    Methods that the class itself defines stay.
    """
    return define(cls, ("__eq__", "__hash__"))


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen_object(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances are known by identity, and shown by their fields."""
    return define(cls, ())


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def immutable(cls: type[T]) -> type[T]:
    """Like :func:`frozen`; an assignment raises, as users of the class may try one."""
    refusing = {"__setattr__": _refuse, "__delattr__": _refuse, "__setstate__": _restore}
    return define(cls, ("__eq__", "__hash__"), refusing)


def _refuse(_value: Any, name: str, *_new: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _restore(value: Any, state: tuple[None, dict[str, Any]]) -> None:
    for name, held in state[1].items():
        object.__setattr__(value, name, held)
