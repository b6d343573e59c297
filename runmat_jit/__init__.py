"""A tracing JIT compiler for plain NumPy code and for MATLAB files.

>>> import numpy as np
>>> import runmat_jit as runmat
>>> @runmat.jit
... def energy(x, y):
...     return np.sqrt(x * x + y * y).sum()
>>> float(energy(np.full(4, 3.0), np.full(4, 4.0)))
20.0
"""

from importlib import import_module
from typing import TYPE_CHECKING

from runmat_jit.core import own_builtins  # isort: skip  # noqa: F401  (before what it loads)
from runmat_jit import telemetry
from runmat_jit.api import config, devices, jit, synchronize
from runmat_jit.compiler.explain import Explanation
from runmat_jit.core.errors import (
    ArgumentError,
    BackendError,
    CaptureError,
    ConfigError,
    RunMatError,
)
from runmat_jit.core.loading import LOADER
from runmat_jit.dispatcher import disable
from runmat_jit.jit_function import CacheInfo, JitFunction

if TYPE_CHECKING:
    from runmat_jit import matlab, random
    from runmat_jit.array import Array, asarray

__all__ = [
    "ArgumentError",
    "Array",
    "BackendError",
    "CacheInfo",
    "CaptureError",
    "ConfigError",
    "Explanation",
    "JitFunction",
    "RunMatError",
    "asarray",
    "config",
    "devices",
    "disable",
    "jit",
    "matlab",
    "random",
    "synchronize",
    "telemetry",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """Load what brings the compiler with it, and ``matlab``, at their first use."""
    if name in ("matlab", "random"):
        LOADER.load((f"runmat_jit.{name}",))
        return import_module(f"runmat_jit.{name}")
    if name in ("Array", "asarray"):
        LOADER.load(("runmat_jit.array",))
        return getattr(import_module("runmat_jit.array"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: object) -> None:
    """Add ``%%runmat`` and ``%%matlab``: what ``%load_ext runmat_jit`` calls."""
    import_module("runmat_jit.notebook").add_magics(shell)


def __dir__() -> list[str]:
    """The public names, also of what is not loaded yet."""
    return [*__all__, "__version__"]
