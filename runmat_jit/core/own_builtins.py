"""Builtins of our own: what a program puts into ``builtins`` later is for the program alone.

``mock.patch("builtins.max")`` in a test, or a notebook's own ``print``, would else replace what our
modules call, too, in the middle of a call. A module looks its builtins up in ``__builtins__`` among
its globals, which Python fills in only where nothing is there.
"""

from __future__ import annotations

import builtins
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any, Final

_PACKAGES: Final = ("runmat_jit.", "matlab_frontend.")
_BUILTINS: Final = dict(vars(builtins))


class OwnBuiltins(SourceFileLoader):
    """Loads a module that finds its builtins as they were when the package was imported."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the module's code."""
        vars(module)["__builtins__"] = _BUILTINS
        super().exec_module(module)


class Finder:
    """Finds the modules of our packages, where Python looks for them."""

    @staticmethod
    def find_spec(
        name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the specification of a module of ours; None for all others."""
        if path is None or not name.startswith(_PACKAGES):
            return None
        found = PathFinder.find_spec(name, path, target)
        if found is not None and type(found.loader) is SourceFileLoader:
            found.loader = OwnBuiltins(found.loader.name, found.loader.path)
        return found


if Finder not in sys.meta_path:
    sys.meta_path.insert(0, Finder)
