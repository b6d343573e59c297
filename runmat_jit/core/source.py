"""Where in the user's program something was asked for, and calls made as if from there."""

from __future__ import annotations

import sys
import types
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.locks import new_lock

_CALL: Final = (lambda _rm_fn, _rm_args, _rm_named: _rm_fn(*_rm_args, **_rm_named)).__code__


class Namespaces:
    """Globals of the modules whose lines are known, found by identity and never kept alive.

    A dict takes no weak reference, so a namespace is found through functions that use it: whoever
    runs a line holds one, and lets it go with the program's own module.
    """

    def __init__(self) -> None:
        self._users: dict[int, weakref.WeakSet[types.FunctionType]] = {}
        self._lock = new_lock()

    def note(self, user: types.FunctionType) -> None:
        """Note a function: as long as it lives, its globals are found."""
        with self._lock:
            if len(self._users) > NAMESPACES_LIMIT:
                self._users = {key: users for key, users in self._users.items() if users}
            self._users.setdefault(id(user.__globals__), weakref.WeakSet()).add(user)

    def has(self, identity: int) -> bool:
        """True if a function with these globals is alive."""
        return bool(self._users.get(identity))

    def find(self, identity: int) -> dict[str, Any] | None:
        """Globals with this identity; None if no function that was noted uses them any more."""
        with self._lock:
            user = next(iter(self._users.get(identity, ())), None)
        return None if user is None else user.__globals__


NAMESPACES_LIMIT: Final = 1000
"""Namespaces noted after which those without a living function are forgotten."""


@frozen_object
class Namespace:
    """Globals of a module, by identity and by the module's name; ``known`` finds them."""

    identity: int
    module: str
    known: Namespaces | None = None

    @classmethod
    def of(cls, found: dict[str, Any], known: Namespaces | None = None) -> Namespace:
        """Namespace of a frame or a function."""
        return cls(id(found), str(found.get("__name__", "")), known)

    def globals(self) -> dict[str, Any]:
        """The globals; an empty namespace of that name if the module is gone."""
        found = None if self.known is None else self.known.find(self.identity)
        if found is None:
            found = getattr(sys.modules.get(self.module), "__dict__", None)
            if id(found) != self.identity:
                found = None
        return {"__name__": self.module} if found is None else found


@frozen_object
class SourceLine:
    """A line of code; ``namespace``: the globals of its module."""

    filename: str
    line: int
    function: str = ""
    namespace: Namespace | None = None

    def __eq__(self, other: object) -> bool:
        return type(other) is SourceLine and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str, int, str, int]:
        identity = 0 if self.namespace is None else self.namespace.identity
        return self.filename, self.line, self.function, identity

    def call(self, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """``fn(*args, **kwargs)``, called from this line: Python and NumPy see its frame."""
        found = {} if self.namespace is None else self.namespace.globals()
        return types.FunctionType(self.calling(), found)(fn, args, kwargs)

    def calling(self) -> types.CodeType:
        """Code of a function that calls others from this line."""
        return _CALL.replace(
            co_filename=self.filename,
            co_firstlineno=self.line,
            co_name=self.function,
            co_qualname=self.function,
        )

    def short(self) -> str:
        """File name, line and function, for lists."""
        where = f" in {self.function}" if self.function else ""
        return f"{Path(self.filename).name}:{self.line}{where}"

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}"

    def __repr__(self) -> str:
        return f"SourceLine({self.filename!r}, {self.line}, {self.function!r})"


FRAME_FUNCTIONS: Final = frozenset(("_getframe", "currentframe"))
"""Functions that give the frame of their caller, or of a caller of it."""


def looks_at_frames(code: types.CodeType) -> bool:
    """True if a function, or one in it, asks for frames: who calls it is part of what it does."""
    names = code.co_names
    asks = not FRAME_FUNCTIONS.isdisjoint(names) or ("inspect" in names and "stack" in names)
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return asks or any(map(looks_at_frames, inner))


def calls_itself(code: types.CodeType, name: str) -> bool:
    """True if a function's code, or that of a function in it, uses its own name."""
    inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    names = (*code.co_names, *code.co_freevars)
    return name in names or any(calls_itself(each, name) for each in inner)


def is_calling(code: types.CodeType) -> bool:
    """True if a frame with this code is that of a caller that :class:`SourceLine` made."""
    return code.co_varnames == _CALL.co_varnames
