"""What was installed, and what the user wrote."""

from __future__ import annotations

import os
import sysconfig
import types
from pathlib import Path
from typing import Final

_LIBRARIES: Final = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    f"{Path(__file__).parents[2]}{os.sep}",  # ourselves, also where a checkout is imported
)


def is_library(fn: types.FunctionType) -> bool:
    """Whether a function was installed, not written by the user."""
    return fn.__code__.co_filename.startswith((*_LIBRARIES, "<frozen"))
