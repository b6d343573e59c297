"""Attribute reads: of modules and classes, of objects from outside, of the recording's own."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Final

from runmat_jit.capture import generators
from runmat_jit.capture.plain_objects import runs_code
from runmat_jit.capture.pytree import is_namedtuple
from runmat_jit.capture.traced import Traced, TracedMethod
from runmat_jit.capture.values import RANDOM_STATES

if TYPE_CHECKING:
    from runmat_jit.capture.hooks import Hooks

_LIBRARIES: Final = ("numpy", "math", "cmath", "scipy", "operator", "itertools", "functools")
"""Modules whose attributes hardly ever change: a segment looks at all of them at once."""
_MUTABLE: Final = (list, dict, set)


def read(hooks: Hooks, obj: Any, name: str) -> Any:
    """``obj.name``."""
    kind, tracer = type(obj), hooks.tracer
    if kind is Traced:
        if name.startswith("__array_") and not tracer.passive:
            return getattr(tracer.leak(obj, f"its {name}"), name)
        return getattr(obj, name)
    if kind is TracedMethod or tracer.passive:
        return getattr(obj, name)
    if kind is types.ModuleType:
        if not is_library(obj):
            return tracer.outside.attribute(obj, name)
        value = getattr(obj, name)
        tracer.steps.add_name(vars(obj), name, value)
        return value
    if isinstance(obj, type):
        return of_class(hooks, obj, name)
    if kind in RANDOM_STATES:
        return generators.read(hooks, obj, name)
    if kind is super:
        return of_super(hooks, obj, name)
    if isinstance(obj, (list, dict, tuple)):
        return of_container(hooks, obj, name)
    if tracer.outside.slot_of(obj) is not None:
        return of_outside(hooks, obj, name)
    if tracer.owns(obj):
        return of_own(hooks, obj, name)
    value = hooks.adopted(getattr(obj, name))
    own_name = kind is types.FunctionType and not name.startswith("__")
    if isinstance(value, _MUTABLE) or own_name:
        tracer.effect("outside-object", f"{name} of a {kind.__name__} is read")
    return value


def read_or(hooks: Hooks, obj: Any, name: str, default: Any) -> Any:
    """``getattr`` with a default."""
    return read(hooks, obj, name) if has(hooks, obj, name) else default


def has(hooks: Hooks, obj: Any, name: str) -> bool:
    """``hasattr``: what is missing outside may appear, what is there is read."""
    found = hasattr(obj, name)
    tracer = hooks.tracer
    changes = tracer.outside.slot_of(obj) is not None or isinstance(obj, type)
    changes = changes or (isinstance(obj, types.ModuleType) and not is_library(obj))
    if type(obj) is Traced or tracer.passive or not changes:
        return found
    if found:
        read(hooks, obj, name)
    else:
        tracer.effect("missing-attribute", f"a {type(obj).__name__} has no {name}")
    return found


def is_library(module: types.ModuleType) -> bool:
    """Whether a module's attributes hardly ever change."""
    return module.__name__.partition(".")[0] in _LIBRARIES


def of_container(hooks: Hooks, obj: Any, name: str) -> Any:
    """A method of a list, dict or tuple; a field or method of a named tuple."""
    kind = type(obj)
    if is_namedtuple(obj) and name not in getattr(kind, "_fields", ()):
        of_class(hooks, kind, name)  # the class may change
    return getattr(obj, name)


def of_outside(hooks: Hooks, obj: Any, name: str) -> Any:
    """An attribute of an outside object: properties are followed, the rest is read."""
    kind, tracer = type(obj), hooks.tracer
    found = getattr(kind, name, None)
    if isinstance(found, property) and found.fget is not None:
        return of_property(hooks, obj, name)
    if runs_code(kind, name):
        tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its own")
    if not hasattr(obj, name):
        tracer.effect("missing-attribute", f"{kind.__name__} has no {name}")
        return getattr(obj, name)
    return tracer.outside.attribute(obj, name)


def of_own(hooks: Hooks, obj: Any, name: str) -> Any:
    """An attribute of an object that the recording made."""
    kind = type(obj)
    found = getattr(kind, name, None)
    if isinstance(found, property) and found.fget is not None:
        return of_property(hooks, obj, name)
    if runs_code(kind, name):
        hooks.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its own")
    if found is not None and name not in getattr(obj, "__dict__", ()):
        of_class(hooks, kind, name)  # the class may change
    return hooks.adopted(getattr(obj, name))


def of_property(hooks: Hooks, obj: Any, name: str) -> Any:
    """A property: its getter is followed."""
    getter = hooks.tracer.outside.attribute(of_class(hooks, type(obj), name), "fget")
    return hooks.call(getter, obj)


def of_class(hooks: Hooks, kind: type, name: str) -> Any:
    """An attribute of a class: read from outside, unless the recording made the class."""
    outside = hooks.tracer.outside
    if kind.__module__ == "builtins" or kind.__module__.partition(".")[0] == "numpy":
        return getattr(kind, name)
    if kind not in outside.classes and "<locals>" in kind.__qualname__:
        return getattr(kind, name)
    if runs_code(type(kind), name) or isinstance(getattr(type(kind), name, None), property):
        hooks.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its metaclass")
    return outside.attribute(kind, name)


def of_super(hooks: Hooks, obj: Any, name: str) -> Any:
    """What ``super()`` finds: an attribute of the next class that has it."""
    classes = obj.__self_class__.__mro__
    for base in classes[classes.index(obj.__thisclass__) + 1 :]:
        if name in vars(base):
            of_class(hooks, base, name)
            break
    return hooks.adopted(getattr(obj, name))


def store(hooks: Hooks, obj: Any, name: str, value: Any) -> None:
    """``obj.name = value`` for an object that the recording made."""
    kind = type(obj)
    found = getattr(kind, name, None)
    if isinstance(found, property) and found.fset is not None:
        setter = hooks.tracer.outside.attribute(of_class(hooks, kind, name), "fset")
        hooks.call(setter, obj, value)
        return
    if hasattr(type(found), "__set__") and runs_code(kind, name):
        hooks.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its own")
    setattr(obj, name, value)
