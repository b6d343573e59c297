"""Ufuncs of modules that may not have been loaded: known by where they are found."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.ops.promotion import ufunc_rule
from runmat_jit.ops.spec import Operand, Params, Result


@frozen
class LibraryUfunc:
    """A ufunc of a module; calling it loads that."""

    module: str
    name: str
    nin: int

    @property
    def __name__(self) -> str:
        return self.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.ufunc()(*args, **kwargs)

    def ufunc(self) -> np.ufunc:
        """The ufunc itself."""
        found: np.ufunc = getattr(import_module(self.module), self.name)
        return found

    def means(self, function: Any) -> bool:
        """True if a function is this one; no module is loaded to find out."""
        return getattr(sys.modules.get(self.module), self.name, None) is function

    def result(self, operands: tuple[Operand, ...], params: Params) -> Result | None:
        """The rule for dtype and shape."""
        return ufunc_rule(self.ufunc())(operands, params)
