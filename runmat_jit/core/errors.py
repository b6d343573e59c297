"""What a user may catch. Our own mistakes are assertions with a sentence."""

from __future__ import annotations

from runmat_jit.core.reasons import Reason


class RunMatError(Exception):
    """Base of every error that this package raises on its own account."""


class CaptureError(RunMatError, RuntimeError):
    """``fullgraph=True`` was asked for and part of the function cannot be captured.

    ``reason`` says why: its ``id`` is one of the table's, ``line`` the user's.
    """

    def __init__(self, message: str, reason: Reason | None = None) -> None:
        super().__init__(message)
        self.reason = reason


class ArgumentError(RunMatError, TypeError):
    """A public function was called with something that it does not take."""


class ConfigError(RunMatError, ValueError):
    """An option or environment variable has a value that it cannot have."""


class BackendError(RunMatError, RuntimeError):
    """No backend can do what was asked for on this machine."""
