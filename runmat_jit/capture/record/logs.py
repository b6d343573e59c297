"""Calls of loggers: repeated by each replay where what handles them does nothing but write."""

from __future__ import annotations

import logging
import sys
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.capture.record import host_calls
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.steps import Stale
from runmat_jit.capture.replay.streams import is_plain
from runmat_jit.capture.tape.call_forms import MethodCall
from runmat_jit.capture.tape.values import ARRAY

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks

_LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "critical": logging.CRITICAL,
}
_HANDLERS: Final = (logging.StreamHandler, logging.FileHandler)
_MESSAGE: Final = (str, int, float, complex, bool, type(None))


def concerns(fn: Any) -> bool:
    """Whether it is a method of a logger that capture repeats."""
    return type(fn) is types.MethodType and type(fn.__self__) is logging.Logger


def call(hooks: Hooks, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A method of a logger: of values that nobody can change later, or else an effect."""
    tracer, logger, name = hooks.tracer, fn.__self__, fn.__name__
    level = _LEVELS.get(name)
    quiet = not kwargs and all(map(is_unchanging, args))
    known = tracer.slot_of(logger) is not None
    if level is None or not (known and quiet and (tracer.tape.feeding or writes(logger, level))):
        return host_calls.run_effect(
            tracer, fn, args, kwargs, "capture does not know what handles it"
        )
    host_calls.run_host(tracer, require_writing, (logger, level), {}, writes=False)
    method = MethodCall(name, draws=True, sure=True, tells=True)
    return host_calls.run_host(tracer, method, (logger, *args), {}, writes=True)


def get_logger(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``logging.getLogger(name)``: what it gives is outside state."""
    if len(args) != 1 or kwargs or type(args[0]) is not str:
        return host_calls.run_effect(
            hooks.tracer, logging.getLogger, args, kwargs, "a name is missing"
        )
    (name,) = args
    logger = logging.getLogger(name)
    return hooks.tracer.outside.read(
        ("logger", name), lambda _slots: logging.getLogger(name), logger, f"logger {name}"
    )


def is_unchanging(value: Any) -> bool:
    """Whether a value is text or a number: handlers may keep it."""
    return type(value) in _MESSAGE or (type(value) is Traced and value._rm_kind != ARRAY)


def require_writing(logger: logging.Logger, level: int) -> None:
    """Refuse a logger that may do something else than write.

    Raises:
        Stale: what handles its messages is not known.

    """
    if not writes(logger, level):
        raise Stale("what handles the messages of a logger is not known")


require_writing.__name__ = "handlers"


def writes(logger: logging.Logger, level: int) -> bool:
    """Whether messages of a level are written to plain streams, if anything is done with them."""
    if type(logger) is not logging.Logger:
        return False
    if not logger.isEnabledFor(level):
        return True
    if logger.filters or logging.getLogRecordFactory() is not logging.LogRecord:
        return False
    handlers, place = [], logger
    while True:
        handlers += [handler for handler in place.handlers if level >= handler.level]
        if not place.propagate or place.parent is None:
            break
        place = place.parent
    return all(map(is_writing, handlers)) and (bool(handlers) or is_plain(sys.stderr))


def is_writing(handler: logging.Handler) -> bool:
    """Whether a handler does nothing but write a line."""
    if type(handler) is logging.NullHandler:
        return True
    formatter = handler.formatter
    known = type(handler) in _HANDLERS and not handler.filters
    known = known and (formatter is None or type(formatter) is logging.Formatter)
    return known and is_plain(getattr(handler, "stream", None))
