"""Expansions that are found when they are first used."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


def late(module: str, name: str) -> Callable[..., Value]:
    """The expansion ``name`` of a module of :mod:`runmat_jit.kernel.math`."""

    def expand(k: Builder, *args: Any) -> Value:
        found = getattr(import_module(f"runmat_jit.kernel.math.{module}"), name)
        value: Value = found(k, *args)
        return value

    return expand
