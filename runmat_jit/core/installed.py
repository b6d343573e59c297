"""Functions that were installed: the standard library's, packages', and our own."""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Final

_INSTALLED: Final = (
    os.path.dirname(os.__file__),  # noqa: PTH120  (as text, like what it is compared with)
    *(path for path in sys.path if path.endswith(("site-packages", "dist-packages"))),
    f"{Path(__file__).parents[1]}{os.sep}",  # ourselves, also where a checkout is imported
    "<frozen",
)


def is_installed(fn: types.FunctionType) -> bool:
    """True if a function was installed, not written by the user."""
    return fn.__code__.co_filename.startswith(_INSTALLED)
