"""True if code was called by a signal handler: it runs in the middle of what it interrupted."""

from __future__ import annotations

import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import Any


def called_by_handler(ends: Callable[[types.CodeType], bool]) -> bool:
    """True if a handler's frame is among those that called this, before one with a code that ends.

    Python runs handlers on the main thread, between two instructions of whatever runs there.
    """
    if threading.current_thread() is not threading.main_thread():
        return False
    codes = handler_codes()
    frame: types.FrameType | None = sys._getframe(1)
    while codes and frame is not None and not ends(frame.f_code):
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def raised_by_handler(error: BaseException) -> bool:
    """True if an exception came from a signal handler: then it says nothing about the program."""
    if isinstance(error, KeyboardInterrupt):
        return True  # Python's own handler has no frame
    codes = handler_codes()
    traceback = error.__traceback__
    while codes and traceback is not None:
        if traceback.tb_frame.f_code in codes:
            return True
        traceback = traceback.tb_next
    return False


def handler_codes() -> set[types.CodeType]:
    """The code of the Python functions that handle signals."""
    signal = sys.modules.get("signal")
    if signal is None:  # Python has no handler but its own
        return set()
    codes = map(handler_code, signal.valid_signals())
    return {code for code in codes if code is not None}


def handler_code(number: int) -> types.CodeType | None:
    """The code of the Python function that handles a signal."""
    handler: Any = sys.modules["signal"].getsignal(number)
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not isinstance(handler, types.FunctionType | types.MethodType):
        handler = getattr(type(handler), "__call__", None)  # noqa: B004  (its code is asked for)
    code = getattr(handler, "__code__", None)
    return code if isinstance(code, types.CodeType) else None
