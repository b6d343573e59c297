"""The variables of one running function, and the file that it stands in."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import field
from typing import Any

from matlab_frontend import nodes
from matlab_frontend.source import Source, Span
from matlab_frontend.values.array import Value
from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted_object


@frozen_object
class Scope:
    """A file: its text, and the functions that its code sees first."""

    source: Source
    functions: Mapping[str, nodes.Function]
    persistent: dict[Hashable, Value] = field(default_factory=dict)
    """Persistent variables by function and name: they live as long as the file is loaded."""
    file: str = ""
    """The file's name, also where ``source`` is a text that its code evaluates."""
    imports: list[str] = field(default_factory=list)
    """Names of packages and of their functions that ``import`` made known."""
    enclosing: Mapping[str, Frame] = field(default_factory=dict)
    """For each nested function that can be called the running one that holds it."""


_ELSEWHERE: Value = False
"""Stands where a shared variable has its name but not its value."""


class SharedVariables(dict[str, Value]):
    """The variables of a frame of which some live elsewhere, in one place for all that share them.

    Of ``global`` and ``persistent`` ones the name stands here; those that a nested function shares
    with the function that holds it are there when they are there.
    """

    def __init__(self, variables: Mapping[str, Value]) -> None:
        super().__init__(variables)
        self.places: dict[str, tuple[dict[Any, Value], Hashable]] = {}

    def share(self, name: str, store: dict[Hashable, Value], key: Hashable, default: Value) -> None:
        """Declare a variable that lives in a store."""
        self.places[name] = (store, key)
        store.setdefault(key, default)
        super().__setitem__(name, _ELSEWHERE)

    def reach(self, name: str, outer: SharedVariables) -> None:
        """Let a name mean the variable of the function outside."""
        self.places[name] = (outer, name)

    def __contains__(self, name: object) -> bool:
        place = self.places.get(name)  # type: ignore[call-overload]  # names are texts
        return super().__contains__(name) if place is None else place[1] in place[0]

    def __getitem__(self, name: str) -> Value:
        place = self.places.get(name)
        return super().__getitem__(name) if place is None else place[0][place[1]]

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable, or what stands for none."""
        return self[name] if name in self else default  # noqa: SIM401  (this is get itself)

    def __setitem__(self, name: str, value: Value) -> None:
        place = self.places.get(name)
        if place is None:
            super().__setitem__(name, value)
        else:
            place[0][place[1]] = value

    def __iter__(self) -> Iterator[str]:
        shared = (name for name in self.places if name in self)
        return iter(dict.fromkeys((*super().__iter__(), *shared)))

    def pop(self, name: str, default: Any = None) -> Any:
        """Forget a variable; a global or persistent one stays for others."""
        place = self.places.get(name)
        if place is not None and isinstance(place[0], SharedVariables):
            return place[0].pop(name, default)
        self.places.pop(name, None)
        return super().pop(name, default)

    def __delitem__(self, name: str) -> None:
        self.pop(name)


@slotted_object
class Frame:
    """One call. ``ends`` tells what ``end`` means: value, position and number of subscripts."""

    scope: Scope
    name: str = ""
    variables: dict[str, Value] = field(default_factory=dict)
    inputs: int | None = None
    outputs: int | None = None
    ends: list[tuple[Value, int, int]] = field(default_factory=list)
    missing: frozenset[str] = frozenset()
    """Inputs that the call left out."""
    span: Span | None = None
    """The expression that runs, for errors."""
    caller: Frame | None = None
    holds: frozenset[str] = frozenset()
    """Variables of a function that holds nested ones, which these share."""

    def chain(self) -> Iterator[Frame]:
        """The call itself, its caller, and so on."""
        frame: Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.caller
