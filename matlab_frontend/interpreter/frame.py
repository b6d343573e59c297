"""The variables of one running function, and the file that it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from matlab_frontend import nodes
from matlab_frontend.source import Source, Span
from matlab_frontend.values.array import Value


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """A file: its text, and the functions that its code sees first."""

    source: Source
    functions: Mapping[str, nodes.Function]
    persistent: dict[tuple[str, str], Value] = field(default_factory=dict)
    """Persistent variables by function and name: they live as long as the file is loaded."""


class SharedVariables(dict[str, Value]):
    """The variables of a frame that declared some ``global``: those live in the session."""

    def __init__(self, variables: Mapping[str, Value], session: dict[str, Value]) -> None:
        super().__init__(variables)
        self.session = session
        self.names: set[str] = set()

    def share(self, name: str, default: Value) -> None:
        """Declare a global variable."""
        self.names.add(name)
        self[name] = self.session.setdefault(name, default)

    def __getitem__(self, name: str) -> Value:
        return self.session[name] if name in self.names else super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable, or what stands for none."""
        return self[name] if name in self else default  # noqa: SIM401  (this is get itself)

    def __setitem__(self, name: str, value: Value) -> None:
        super().__setitem__(name, value)
        if name in self.names:
            self.session[name] = value

    def pop(self, name: str, default: Any = None) -> Any:
        """Forget a variable here; a global one stays for others."""
        self.names.discard(name)
        return super().pop(name, default)


@dataclass(slots=True, eq=False)
class Frame:
    """One call. ``ends`` tells what ``end`` means: value, position and number of subscripts."""

    scope: Scope
    name: str = ""
    variables: dict[str, Value] = field(default_factory=dict)
    inputs: int | None = None
    outputs: int | None = None
    kept: set[str] = field(default_factory=set)
    ends: list[tuple[Value, int, int]] = field(default_factory=list)
    missing: frozenset[str] = frozenset()
    """Inputs that the call left out."""
    span: Span | None = None
    """The expression that runs, for errors."""
    parent: Frame | None = None
    body: nodes.Block = ()
    results: frozenset[str] | None = None
    """The variables that are read at the end; None for all."""
