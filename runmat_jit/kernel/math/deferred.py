"""Long expansions, whose modules are loaded when a kernel is first made of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from runmat_jit.core.loading import LOADER
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def deferred(module: str, name: str) -> Callable[..., Value]:
    """The function of a module of this package."""
    place = f"{__package__}.{module}"

    def expand(k: Builder, *values: Value, **params: object) -> Value:
        LOADER.load((place,))
        function: Callable[..., Value] = getattr(import_module(place), name)
        return function(k, *values, **params)

    return expand
