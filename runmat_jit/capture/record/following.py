"""Interface of a function's hooks for the handlers of calls and attributes."""

from __future__ import annotations

import types
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.source.hook_base import HookBase
from runmat_jit.capture.source.refusal import Refused


class Following(HookBase):
    """A function that is followed in one recording; :mod:`.hooks` has the implementation."""

    tracer: Tracer

    # -- functions ---------------------------------------------------------------------------------
    @abstractmethod
    def undecorated(self, fn: Any) -> Any:
        """Function beneath our own decorator; None where that is not."""

    @abstractmethod
    def is_rewritten(self, fn: types.FunctionType) -> bool:
        """True if a function calls hooks itself."""

    @abstractmethod
    def convert(self, fn: types.FunctionType) -> types.FunctionType | Refused:
        """A helper function, rewritten for this recording, or why it cannot be."""

    # -- values that the program passes on ---------------------------------------------------------
    @abstractmethod
    def length(self, value: Any) -> int:
        """``len``, guarded where the container is outside."""

    @abstractmethod
    def shadowed(self, value: Any) -> Any:
        """Iterable: arrays lifted; the rest as it is, and an effect if it is not known."""

    @abstractmethod
    def given(self, value: Any) -> Any:
        """An argument of a builtin: functions are followed, outside objects are an effect."""

    @abstractmethod
    def called(self, value: Any) -> Callable[..., Any]:
        """An argument of a builtin that calls it."""

    @abstractmethod
    def hashed(self, key: Any) -> Any:
        """A key for a dict or set: traced values in it are looked at."""

    @abstractmethod
    def adopted(self, value: Any) -> Any:
        """An array that came out of an object capture knows nothing of is lifted, as an effect."""
