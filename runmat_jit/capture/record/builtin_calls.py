"""Calls of builtins: they see nothing but their arguments, traced values among them."""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any, Final

from runmat_jit.capture import callables
from runmat_jit.capture.record import answers, attributes, escape_barrier
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.host_calls import run_effect, run_host
from runmat_jit.capture.record.release import is_made_here
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.plain_objects import has_metaclass
from runmat_jit.capture.tape.values import CONSTANTS, DEPTH_LIMIT, PYTHON, SCALARS

_COMPARING: Final = (min, max, sorted)
"""Builtins whose errors name the operands, in their order."""

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]


def call_builtin(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A builtin that sees nothing but its arguments, and what these call."""
    given = hooks.called if callables.of(fn).calls_back else hooks.given
    named = {name: given(value) for name, value in kwargs.items()}
    made = call_plain(hooks, fn, tuple(map(given, args)), named)
    if isinstance(made, (list, dict, set)) or hasattr(made, "__next__"):
        return hooks.fresh(made)
    return made


def call_plain(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Call a builtin; what an error says of classes, it is to say of those of real values."""
    try:
        return escape_barrier.from_line(hooks.tracer, fn, *args, **kwargs)
    except TypeError as error:
        refused = error
    try:
        if fn in _COMPARING or all(map(is_data, (*args, *kwargs.values()))):
            fn(*hooks.tracer.raw(args), **hooks.tracer.raw(dict(kwargs)))
        raise refused
    finally:
        del refused  # else this frame and the error hold each other


def is_data(value: Any, depth: int = 0) -> bool:
    """True if a value can be used twice, and calls nothing."""
    if type(value) in (list, tuple, dict, set):
        return depth < DEPTH_LIMIT and all(is_data(item, depth + 1) for item in value)
    return type(value) is Traced or isinstance(value, CONSTANTS)


def call_scalar(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Arithmetic: an operation where an operand is traced."""
    if not kwargs and is_operation(fn, args):
        return hooks.tracer.call(fn, args, {})
    if not kwargs and fn.__module__ in ("math", "cmath") and holds_traced(args):
        return run_host(hooks.tracer, fn, tuple(map(hooks.shadowed, args)), {}, writes=False)
    return call_builtin(hooks, fn, args, kwargs)


def is_operation(fn: Any, args: Args) -> bool:
    """True if arithmetic works on traced numbers or arrays as an operation."""
    if not any(type(arg) is Traced for arg in args):
        return False
    if fn not in (min, max):
        return True
    scalars = all(type(a) is not Traced or a._rm_kind == PYTHON for a in args)
    kinds = {a.__class__ if type(a) is Traced else type(a) for a in args}
    return len(args) > 1 and scalars and len(kinds) == 1


def call_text(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``str``, ``repr``, ``format``, ``%`` and the like: of constants now, else an effect."""
    if all(map(is_plain_constant, (*args, *kwargs.values()))):
        return escape_barrier.from_line(hooks.tracer, fn, *args, **kwargs)
    args = tuple(map(hooks.shadowed, args))
    return run_effect(hooks.tracer, fn, args, kwargs, "it makes text of values")


def call_text_method(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A method of a text: of what the recording knows now, else an effect."""
    seen = tuple(map(hooks.given, args))
    named = {name: hooks.given(value) for name, value in kwargs.items()}
    if fn.__name__ == "join" and len(seen) == 1 and is_own_generator(seen[0]):
        seen = (list(seen[0]),)
    if not holds_traced((seen, named)):
        return fn(*seen, **named)
    return run_effect(hooks.tracer, fn, seen, named, "it makes text of values")


def call_of_constants(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A function of text and integers alone: Python runs it while recording."""
    if not all(map(is_plain_constant, (*args, *kwargs.values()))):
        return run_effect(hooks.tracer, fn, args, kwargs, "it gets more than constants")
    if kwargs:
        return fn(*args, **kwargs)
    made = fn(*args)
    return hooks.fresh(made) if type(made) is list else made


def is_plain_constant(value: Any) -> bool:
    """True if a value is text, a number or None, or a tuple of such."""
    if type(value) is tuple:
        return all(map(is_plain_constant, value))
    return type(value) in (*SCALARS, str, bytes, type(None))


def call_type(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``type``."""
    if len(args) == 1:
        return type(answers.alike(args[0]))
    return run_effect(hooks.tracer, fn, args, kwargs, "it makes a class")


def call_truth(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``bool``."""
    if len(args) != 1:
        return call_builtin(hooks, fn, args, kwargs)
    return escape_barrier.from_line(hooks.tracer, bool, args[0])


def call_length(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``len``."""
    return hooks.length(*args) if len(args) == 1 else fn(*args, **kwargs)


def call_isinstance(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``isinstance`` or ``issubclass``."""
    classes = args[1] if len(args) == 2 and isinstance(args[1], tuple) else args[1:]
    if any(map(has_metaclass, classes)):
        return run_effect(hooks.tracer, fn, args, kwargs, "a class has a metaclass")
    return fn(*map(answers.alike, args), **kwargs)


def call_getattr(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``getattr``, with or without a default."""
    if len(args) in (2, 3) and isinstance(name := hooks.hashed(args[1]), str):
        read = hooks.attr if len(args) == 2 else functools.partial(attributes.read_or, hooks)
        return read(args[0], name, *args[2:])
    return call_plain(hooks, fn, args, kwargs)


def call_hasattr(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``hasattr``."""
    if len(args) == 2 and isinstance(name := hooks.hashed(args[1]), str):
        return attributes.has(hooks, args[0], name)
    return call_plain(hooks, fn, args, kwargs)


def call_next(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``next`` of an iterator of the recording's own; of another, an effect."""
    known = not args or hooks.tracer.owns(args[0]) or is_own_generator(args[0])
    if known:
        return escape_barrier.from_line(hooks.tracer, fn, *args, **kwargs)
    return run_effect(hooks.tracer, fn, args, kwargs, "an iterator from outside")


def is_own_generator(value: Any) -> bool:
    """True if a value is a generator that runs code of the recording."""
    return type(value) is types.GeneratorType and is_made_here(value)
