"""Builtin functions: how one is declared, what it is given, and how it is found."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from matlab_frontend.builtins.names import MODULE_OF
from matlab_frontend.engine import Engine
from matlab_frontend.values.array import Value
from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted

if TYPE_CHECKING:
    from matlab_frontend.interpreter.frame import Frame
    from matlab_frontend.interpreter.interpreter import Interpreter
    from matlab_frontend.session import Session

Outputs: TypeAlias = Value | tuple[Value, ...] | None
_VARIADIC = 0x04
"""Flag of code objects that take ``*args``."""


@slotted
class Call:
    """What a builtin gets beside its arguments; ``frame`` is the caller's, where there is one."""

    interpreter: Interpreter
    frame: Frame | None
    outputs: int

    @property
    def engine(self) -> Engine:
        return self.interpreter.engine

    @property
    def session(self) -> Session:
        return self.interpreter.session


@frozen
class Builtin:
    """A function that the language brings along."""

    name: str
    function: Callable[..., Outputs]
    least: int
    most: int | None
    doc: str

    def one(self, call: Call, *arguments: Value) -> Value:
        """The first output, for other builtins."""
        made = self.function(call, *arguments)
        found = made[0] if isinstance(made, tuple) else made
        assert found is not None, f"{self.name} has an output"
        return found


def builtin(name: str) -> Callable[[Callable[..., Outputs]], Builtin]:
    """Declare a builtin; how many arguments it takes is read from the function."""

    def declare(function: Callable[..., Outputs]) -> Builtin:
        code: Any = function.__code__
        fixed = code.co_argcount - 1
        least = fixed - len(function.__defaults__ or ())
        most = None if code.co_flags & _VARIADIC else fixed
        assert function.__doc__, f"the builtin {name} says what it does"
        return Builtin(name, function, least, most, function.__doc__.partition("\n\n")[0])

    return declare


@cache  # a memo of what a module declares
def declared_in(module: str) -> Mapping[str, Builtin]:
    """The builtins of a category, by name."""
    loaded = importlib.import_module(f"{__package__}.{module}")
    declared = [
        value
        for value in vars(loaded).values()
        if isinstance(value, Builtin) and value.function.__module__ == loaded.__name__
    ]
    entries = (*declared, *getattr(loaded, "GENERATED", ()))
    return {entry.name: entry for entry in entries}


def find(name: str) -> Builtin | None:
    """The builtin of a name; loads its category."""
    module = MODULE_OF.get(name)
    return None if module is None else declared_in(module)[name]
