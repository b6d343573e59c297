"""Classes of immutable values, cheap to define and to make.

``dataclass(frozen=True, slots=True)`` compiles six functions for each class, which for a hundred
classes is a good part of the first call, and makes instances four times as slowly, for it has to go
around its own ``__setattr__``. Here one function is compiled, and type checkers alone see to it
that nothing is assigned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances are compared, hashed and shown by their fields.

    Methods that the class itself defines stay.
    """
    own = set(vars(cls))
    made = frozen_object(cls)
    for name, method in _comparison(made).items():
        if name not in own:
            setattr(made, name, method)
    return made


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen_object(cls: type[T]) -> type[T]:
    """A dataclass with slots whose instances are known by identity, and shown by their fields."""
    shown = "__repr__" in vars(cls)
    made: Any = dataclass(slots=True, repr=False, eq=False)(cls)
    if not shown:
        made.__repr__ = _repr
    return made  # type: ignore[no-any-return]  # a class with the same fields


def _comparison(cls: Any) -> dict[str, Callable[..., Any]]:
    compared = _getter([each.name for each in fields(cls) if each.compare])

    def __eq__(self: Any, other: object) -> Any:  # noqa: N807  (methods of the class)
        if other.__class__ is self.__class__:
            return compared(self) == compared(other)
        return NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807  (likewise)
        return hash(compared(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _getter(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that gives these attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _repr(value: Any) -> str:
    parts = [f"{each.name}={getattr(value, each.name)!r}" for each in fields(value) if each.repr]
    return f"{type(value).__qualname__}({', '.join(parts)})"
