"""A tracing JIT compiler for plain NumPy code and for MATLAB files.

>>> import numpy as np
>>> import runmat_jit as runmat
>>> @runmat.jit
... def energy(x, y):
...     return np.sqrt(x * x + y * y).sum()
>>> float(energy(np.full(4, 3.0), np.full(4, 4.0)))
20.0
"""

from runmat_jit import telemetry
from runmat_jit.api import CacheInfo, JitFunction, config, disable, jit
from runmat_jit.compiler.explain import Explanation
from runmat_jit.core.errors import (
    ArgumentError,
    BackendError,
    CaptureError,
    ConfigError,
    RunMatError,
)

__all__ = [
    "ArgumentError",
    "BackendError",
    "CacheInfo",
    "CaptureError",
    "ConfigError",
    "Explanation",
    "JitFunction",
    "RunMatError",
    "config",
    "disable",
    "jit",
    "telemetry",
]
__version__ = "0.1.0"
