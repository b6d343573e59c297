"""Attribute reads: of modules and classes, of objects from outside, of the recording's own."""

from __future__ import annotations

import types
from typing import Any, Final

from runmat_jit.capture.record import answers, escape_barrier, generators
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.outside import is_constant
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.replay.plain_objects import in_class, is_computed, runs_code
from runmat_jit.capture.tape.lines import call_at
from runmat_jit.capture.tape.pytree import is_namedtuple
from runmat_jit.capture.tape.values import ARRAY, is_random_state

_LIBRARIES: Final = ("numpy", "math", "cmath", "scipy", "operator", "itertools", "functools")
"""Modules whose attributes hardly ever change: a segment looks at all of them at once."""
_SAME_CLASSES: Final = ("builtins", "numpy", "collections", "types")
"""Modules whose classes are taken to stay what they are."""
_MUTABLE: Final = (list, dict, set)
_FACTS: Final = frozenset(
    ("__class__", "shape", "dtype", "strides", "ndim", "size", "itemsize", "nbytes")
)
"""Attributes of arrays that traced values have themselves."""


def read(hooks: Following, obj: Any, name: str) -> Any:
    """``obj.name``."""
    kind, tracer = type(obj), hooks.tracer
    if tracer.passive:
        return getattr(obj, name)
    if kind is Traced or kind is TracedMethod:
        return of_traced(hooks, obj, name)
    if kind is types.ModuleType:
        if not is_library(obj):
            return tracer.outside.attribute(obj, name)
        value = getattr(obj, name)
        tracer.tape.library_name(vars(obj), name, value)
        return value
    if isinstance(obj, type):
        return of_class(hooks, obj, name)
    if is_random_state(kind):
        return generators.read(hooks, obj, name)
    if kind is super:
        return of_super(hooks, obj, name)
    if isinstance(obj, (list, dict, tuple)):
        return of_container(hooks, obj, name)
    if tracer.slot_of(obj) is not None:
        return of_outside(hooks, obj, name)
    if tracer.owns(obj):
        return of_own(hooks, obj, name)
    return of_unregistered(hooks, obj, name)


def of_unregistered(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute of what no slot holds: a function of a guarded code, or a builtin object."""
    if is_outside_function(hooks, obj) and name != "__class__":
        hooks.tracer.effect("outside-object", f"{name} of a function is read")
    value = hooks.adopted(call_at(hooks.tracer.here(), getattr, (obj, name), {}))
    if isinstance(value, _MUTABLE):
        hooks.tracer.effect("outside-object", f"{name} of a {type(obj).__name__} is read")
    return value


def of_traced(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute of a traced value: special ones are those of the real value."""
    if type(obj) is not Traced:
        return of_method(hooks, obj, name)
    if name in _FACTS:
        return getattr(obj, name)
    if name in ("flags", "base") and obj._rm_kind == ARRAY:
        owner = obj
        while owner._rm_origin is not None:
            owner = owner._rm_origin[0]
        hooks.tracer.value(owner)  # of which a view that is made real is one
        return hooks.adopted(getattr(hooks.tracer.leak(obj, f"its {name}"), name))
    if not name.startswith("__"):
        return hooks.tracer.attribute(obj, name)
    missing = not answers.has_attribute(obj, name)
    real = answers.alike(obj) if missing else hooks.tracer.leak(obj, f"its {name}")
    return getattr(real, name)  # its own error, where it has none


def of_method(hooks: Following, obj: TracedMethod, name: str) -> Any:
    """An attribute of a method of a traced value."""
    if name in ("__self__", "__name__"):
        return getattr(obj, name)
    hooks.tracer.leak(obj.__self__, f"{name} of its method")
    return getattr(hooks.tracer.raw(obj), name)


def read_or(hooks: Following, obj: Any, name: str, default: Any) -> Any:
    """``getattr`` with a default."""
    if type(obj) in answers.TRACED or hooks.tracer.passive:
        return read(hooks, obj, name) if has(hooks, obj, name) else default
    try:
        return read(hooks, obj, name)
    except AttributeError:
        note_missing(hooks, obj, name)
        return default


def has(hooks: Following, obj: Any, name: str) -> bool:
    """``hasattr``: what is missing outside may appear, what is there is read."""
    if type(obj) in answers.TRACED:
        return hasattr(answers.alike(obj), name)
    if hooks.tracer.passive or not may_change(hooks, obj):
        return hasattr(obj, name)
    try:
        read(hooks, obj, name)
    except AttributeError:
        note_missing(hooks, obj, name)
        return False
    return True


def note_missing(hooks: Following, obj: Any, name: str) -> None:
    """An attribute that is not there may appear later."""
    if hooks.tracer.publishable and may_change(hooks, obj):
        hooks.tracer.effect("missing-attribute", f"a {type(obj).__name__} has no {name}")


def may_change(hooks: Following, obj: Any) -> bool:
    """True if an object's attributes are outside state."""
    if isinstance(obj, types.ModuleType):
        return not is_library(obj)
    of_function = is_outside_function(hooks, obj)
    return isinstance(obj, type) or of_function or hooks.tracer.slot_of(obj) is not None


def is_outside_function(hooks: Following, obj: Any) -> bool:
    """True if a value is a function that no recording made: another of its code may come next."""
    return type(obj) is types.FunctionType and not hooks.is_rewritten(obj)


def is_library(module: types.ModuleType) -> bool:
    """True if a module's attributes hardly ever change."""
    return module.__name__.partition(".")[0] in _LIBRARIES


def of_container(hooks: Following, obj: Any, name: str) -> Any:
    """A method of a list, dict or tuple; a field or method of a named tuple."""
    kind = type(obj)
    if is_namedtuple(obj) and name not in getattr(kind, "_fields", ()):
        return found_in_class(hooks, kind, name, getattr(obj, name))
    return getattr(obj, name)


def of_outside(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute of an outside object: properties are followed, the rest is read, once."""
    kind, tracer = type(obj), hooks.tracer
    found = in_class(kind, name)
    if isinstance(found, property) and found.fget is not None:
        return of_property(hooks, obj, name)
    if runs_code(kind, name) or is_computed(obj, name):
        return tracer.outside.attribute(obj, name, computed(hooks, obj, name))
    return tracer.outside.attribute(obj, name)


_OF_INSTANCES: Final = (types.MemberDescriptorType, types.GetSetDescriptorType)


def of_own(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute of an object that the recording made."""
    kind = type(obj)
    found = in_class(kind, name)
    if isinstance(found, property) and found.fget is not None:
        return of_property(hooks, obj, name)
    computes = runs_code(kind, name) or is_computed(obj, name)
    if computes and kind.__module__.partition(".")[0] not in _SAME_CLASSES:
        return hooks.adopted(computed(hooks, obj, name))
    if found is not None and name not in getattr(obj, "__dict__", ()):
        return found_in_class(hooks, kind, name, hooks.adopted(getattr(obj, name)))
    return hooks.adopted(getattr(obj, name))


def of_property(hooks: Following, obj: Any, name: str) -> Any:
    """A property: its getter is followed."""
    getter = hooks.tracer.outside.attribute(of_class(hooks, type(obj), name), "fget")
    return hooks.call(getter, obj)


def of_class(hooks: Following, kind: type, name: str) -> Any:
    """An attribute of a class: read from outside, unless the recording made the class."""
    outside = hooks.tracer.outside
    if kind.__module__.partition(".")[0] in _SAME_CLASSES:
        return getattr(kind, name)
    if id(kind) not in outside.classes and "<locals>" in kind.__qualname__:
        return getattr(kind, name)
    of_meta = isinstance(in_class(type(kind), name), property) or runs_code(type(kind), name)
    if of_meta or is_computed(kind, name):
        return outside.attribute(kind, name, computed(hooks, kind, name))
    return outside.attribute(kind, name)


def found_in_class(hooks: Following, kind: type, name: str, value: Any) -> Any:
    """An attribute of an instance that its class has, which may change; a number may be data."""
    seen = of_class(hooks, kind, name)
    if isinstance(in_class(kind, name), _OF_INSTANCES):  # a slot, say: the instance's own
        return value
    return seen if type(seen) is Traced or is_constant(value) else value


def computed(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute that code of a class or metaclass gives, which runs once, as Python runs it."""
    of = f"the class {obj.__name__}" if isinstance(obj, type) else f"a {type(obj).__name__}"
    hooks.tracer.effect("descriptor", f"{name} of {of} runs code of its own")
    return hooks.tracer.unknown(getattr, (obj, name))


def of_super(hooks: Following, obj: Any, name: str) -> Any:
    """Attribute of ``super()``: that of the next class that has it."""
    classes = obj.__self_class__.__mro__
    for base in classes[classes.index(obj.__thisclass__) + 1 :]:
        if name in vars(base):
            return found_in_class(hooks, base, name, hooks.adopted(getattr(obj, name)))
    return hooks.adopted(getattr(obj, name))


def store(hooks: Following, obj: Any, name: str, value: Any) -> None:
    """``obj.name = value`` for an object that the recording made."""
    kind = type(obj)
    found = in_class(kind, name)
    if isinstance(found, property) and found.fset is not None:
        setter = hooks.tracer.outside.attribute(of_class(hooks, kind, name), "fset")
        hooks.call(setter, obj, value)
        return
    if hasattr(type(found), "__set__") and runs_code(kind, name):
        hooks.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its own")
    escape_barrier.from_line(hooks.tracer, setattr, obj, name, value)
