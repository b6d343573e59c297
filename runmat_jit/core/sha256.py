"""SHA-256, from Python's own small module where there is one: `hashlib` loads OpenSSL first."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import sha256
else:

    def _found() -> Any:
        for name in ("_sha2" if sys.version_info >= (3, 12) else "_sha256", "hashlib"):
            try:
                return import_module(name).sha256
            except (ImportError, AttributeError):
                continue
        raise ImportError("Python without SHA-256")

    sha256 = _found()

__all__ = ["sha256"]
