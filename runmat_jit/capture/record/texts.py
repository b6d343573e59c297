"""Text made of traced values: f-strings, ``str``, ``%``, ``format`` and the methods of text.

Python makes the text at each call, in program order, of the values of that call. The program sees
a traced value for it; where it decides by the text, the text is an outcome as a number is.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture.callables import is_installed
from runmat_jit.capture.record import escape_barrier, host_calls
from runmat_jit.capture.record.encoder import children_of, holds_traced
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.source.hook_base import CONVERSIONS
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.values import ARRAY, DEPTH_LIMIT, GENERIC, TEXT, TEXTS

_BY_LOCALE: Final = "n"
_PLAIN: Final = frozenset((str, bytes, int, float, complex, bool, type(None), range, Traced))


def formatted(hooks: Following, value: Any, conversion: int, spec: Any) -> Any:
    """One part of an f-string: ``{value!conversion:spec}``; no conversion is -1."""
    if conversion != -1:
        value = make(hooks, CONVERSIONS[conversion], (value,))
    return make(hooks, format, (value, spec))


def joined(hooks: Following, parts: tuple[Any, ...]) -> Any:
    """The parts of an f-string as one text."""
    if not holds_traced(parts):
        return "".join(parts)
    return parts[0] if len(parts) == 1 else method(hooks, "", "join", (list(parts),), {})


def make(hooks: Following, fn: Any, args: tuple[Any, ...]) -> Any:
    """Text of a value by ``str``, ``repr``, ``ascii`` or ``format``."""
    tracer, spec = hooks.tracer, args[1] if len(args) > 1 else ""
    args = tuple(map(hooks.shadowed, args))
    if not has_plain_text(tracer, args):
        return host_calls.run_effect(tracer, fn, args, {}, "an object makes its text itself")
    if not holds_traced(args):
        return fn(*args)
    if type(spec) is not str or spec.endswith(_BY_LOCALE):
        return host_calls.run_effect(
            tracer, fn, args, {}, "text by the locale, or by a traced format"
        )
    if not spec or tracer_kinds(args[0]) & {ARRAY}:
        read_options(tracer, args)
    return host_calls.run_host(tracer, fn, args, {}, writes=False)


def modulo(hooks: Following, lhs: Any, rhs: Any) -> Any:
    """``lhs % rhs``, which makes text where ``lhs`` is one."""
    tracer = hooks.tracer
    if type(lhs) not in TEXTS and not (type(lhs) is Traced and lhs._rm_kind == TEXT):
        return escape_barrier.from_line(tracer, operator.mod, lhs, rhs)
    rhs = hooks.shadowed(rhs)
    if not has_plain_text(tracer, rhs):
        return host_calls.run_effect(
            tracer, operator.mod, (lhs, rhs), {}, "an object makes its text"
        )
    if not holds_traced((lhs, rhs)):
        return lhs % rhs
    read_options(tracer, rhs)
    return host_calls.run_host(tracer, operator.mod, (lhs, rhs), {}, writes=False)


def call_method(hooks: Following, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """A method of a text that is not traced."""
    owner: str | bytes = fn.__self__
    seen = tuple([hooks.given(arg) for arg in args])
    named = {name: hooks.given(value) for name, value in kwargs.items()}
    if fn.__name__ == "join" and len(seen) == 1 and hasattr(seen[0].__class__, "__iter__"):
        try:
            items = iter(seen[0])
        except TypeError:  # an array without axes: Python says what cannot be joined
            pass
        else:
            seen = (list(items),)
    if not holds_traced((seen, named)):
        return fn(*seen, **named)
    return method(hooks, owner, fn.__name__, seen, named)


def method(
    hooks: Following, text: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """A method of text with traced values among its arguments."""
    tracer, fn = hooks.tracer, call_forms.text_method(name)
    if name in ("format", "format_map"):
        if type(text) is not str or f"{_BY_LOCALE}}}" in text:
            return host_calls.run_effect(tracer, fn, (text, *args), kwargs, "text by the locale")
        read_options(tracer, (args, kwargs))
    return host_calls.run_host(tracer, fn, (text, *args), kwargs, writes=False)


def of_arrays(hooks: Following, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``np.array2string`` and its siblings."""
    if not holds_traced((args, kwargs)):
        return host_calls.run_effect(hooks.tracer, fn, args, kwargs, "an array of unknown origin")
    hooks.tracer.outside.print_options()
    return host_calls.run_host(hooks.tracer, fn, args, kwargs, writes=False)


def has_plain_text(tracer: Tracer, value: Any, depth: int = 0) -> bool:
    """Whether the text of a value is made by Python or NumPy, of what the trace knows of it."""
    kind = type(value)
    if kind in _PLAIN:
        return True
    if depth > DEPTH_LIMIT:
        return False
    known = kind in (tuple, list, dict) or tracer.slot_of(value) is None
    methods = [getattr(kind, name) for name in ("__str__", "__repr__", "__format__")]
    own = any(type(m) is types.FunctionType and not is_installed(m) for m in methods)
    return (
        known
        and not own
        and all(has_plain_text(tracer, child, depth + 1) for child in children_of(value))
    )


def read_options(tracer: Tracer, value: Any) -> None:
    """Text of NumPy's values depends on its print options: outside state."""
    if tracer_kinds(value) & {ARRAY, GENERIC}:
        tracer.outside.print_options()


def tracer_kinds(value: Any) -> set[str]:
    """The kinds of the traced values inside a value; NumPy's own scalars are of theirs."""
    if type(value) is Traced:
        return {value._rm_kind}
    if isinstance(value, np.generic):
        return {GENERIC}
    return set().union(*map(tracer_kinds, children_of(value)))
