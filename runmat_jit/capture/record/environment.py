"""``os.environ``: variables of the environment are outside state, each by its name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runmat_jit.capture.record import host_calls

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks


def read(hooks: Hooks, name: Any) -> str | None:
    """The value of a variable, which the trace is recorded for; None where there is none."""
    if type(name) is not str:
        hooks.tracer.effect("outside-item", "a variable of the environment")
        return None
    found: str | None = hooks.tracer.outside.read(
        ("environment", name),
        lambda _slots: os.environ.get(name),
        os.environ.get(name),
        f"the environment's {name}",
    )
    return found


def get(hooks: Hooks, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``os.environ.get(name, default)`` or ``os.getenv(name, default)``."""
    given = dict(zip(("key", "default"), args, strict=False)) | dict(kwargs)
    if type(given.get("key")) is not str or given.keys() - {"key", "default"} or len(args) > 2:
        return host_calls.run_effect(
            hooks.tracer, os.getenv, args, kwargs, "arguments of another kind"
        )
    found = read(hooks, given["key"])
    return given.get("default") if found is None else found
