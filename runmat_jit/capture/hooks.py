"""What rewritten code calls while a call is recorded (see ``hook_base`` for the contract)."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from runmat_jit.capture import calls
from runmat_jit.capture.hook_base import HookBase
from runmat_jit.capture.host import adopt_loosely
from runmat_jit.capture.lines import call_at
from runmat_jit.capture.outside import runs_code
from runmat_jit.capture.traced import ARRAY, Traced, TracedMethod
from runmat_jit.capture.values import holds_traced, is_traceable

if TYPE_CHECKING:
    from runmat_jit.capture.rewrite import Rewritten
    from runmat_jit.capture.tracer import Tracer

_SAME_MODULES = ("numpy", "math", "cmath", "scipy", "operator", "itertools", "functools")
"""Modules whose attributes are taken to stay what they are."""


class Converter(Protocol):
    """Rewrites functions, each once."""

    def rewritten(self, fn: types.FunctionType) -> Rewritten | None:
        """The rewritten form of a function; None where it has none."""

    def is_rewritten(self, code: types.CodeType) -> bool:
        """Whether a code object calls hooks."""

    def undecorated(self, fn: Any) -> types.FunctionType | None:
        """The function beneath our own decorator."""


class Hooks(HookBase):
    """Hooks of one function in one recording."""

    def __init__(self, tracer: Tracer, converter: Converter, fn: types.FunctionType) -> None:
        self.tracer, self.converter = tracer, converter
        self.globals = fn.__globals__
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    # -- converting helpers ------------------------------------------------------------------------
    def undecorated(self, fn: Any) -> types.FunctionType | None:
        """The function beneath our own decorator."""
        return self.converter.undecorated(fn)

    def is_rewritten(self, fn: types.FunctionType) -> bool:
        """Whether a function calls hooks itself."""
        return self.converter.is_rewritten(fn.__code__)

    def convert(self, fn: types.FunctionType) -> types.FunctionType | None:
        """A helper function, rewritten for this recording."""
        from runmat_jit.capture.rewrite import bind  # noqa: PLC0415  (loads ast: first call only)

        rewritten = self.converter.rewritten(fn)
        if rewritten is None:
            return None
        return bind(rewritten, fn, Hooks(self.tracer, self.converter, fn))

    # -- calls and reads ---------------------------------------------------------------------------
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.tracer.passive:
            return function(*args, **kwargs)
        return calls.call(self, function, args, kwargs)

    def attr(self, obj: Any, name: str, /) -> Any:
        kind = type(obj)
        if kind is Traced:
            if name.startswith("__array_") and not self.tracer.passive:
                return getattr(self.tracer.leak(obj, f"its {name}"), name)
            return getattr(obj, name)
        if kind is TracedMethod or self.tracer.passive:
            return getattr(obj, name)
        if kind is types.ModuleType:
            if obj.__name__.partition(".")[0] in _SAME_MODULES:
                return getattr(obj, name)
            return self.tracer.outside.attribute(obj, name)
        if isinstance(obj, type):
            return self.class_attribute(obj, name)
        if kind is super:
            return self.attr_of_super(obj, name)
        if self.tracer.outside.slot_of(obj) is not None:
            return self.attr_of_outside(obj, name)
        if self.tracer.owns(obj):
            return self.attr_of_own(obj, name)
        value = self.adopted(getattr(obj, name))
        mutable = isinstance(value, (list, dict, set)) and not isinstance(obj, (list, dict, tuple))
        if mutable or (kind is types.FunctionType and not name.startswith("__")):
            self.tracer.effect("outside-object", f"{name} of a {kind.__name__} is read")
        return value

    def attr_or(self, obj: Any, name: str, default: Any) -> Any:
        """``getattr`` with a default."""
        if type(obj) is not Traced and self.tracer.outside.slot_of(obj) is not None:
            if not hasattr(obj, name):
                self.tracer.effect("missing-attribute", f"{type(obj).__name__} has no {name}")
                return default
            return self.attr(obj, name)
        return self.adopted(getattr(obj, name, default))

    def attr_of_outside(self, obj: Any, name: str) -> Any:
        """An attribute of an outside object: properties are followed, the rest is read."""
        if isinstance(obj, (list, dict, tuple)):
            return getattr(obj, name)
        found = getattr(type(obj), name, None)
        if runs_code(type(obj), name):
            self.tracer.effect("descriptor", f"{type(obj).__name__}.{name} runs code of its own")
        if isinstance(found, property) and found.fget is not None:
            outside = self.tracer.outside
            getter = outside.attribute(self.class_attribute(type(obj), name), "fget")
            return calls.call(self, getter, (obj,), {})
        if not hasattr(obj, name):
            self.tracer.effect("missing-attribute", f"{type(obj).__name__} has no {name}")
            return getattr(obj, name)
        return self.tracer.outside.attribute(obj, name)

    def attr_of_own(self, obj: Any, name: str) -> Any:
        """An attribute of an object that the recording made."""
        kind = type(obj)
        if name in getattr(obj, "__dict__", ()):
            return getattr(obj, name)
        found = getattr(kind, name, None)
        if isinstance(found, property) and found.fget is not None:
            getter = self.tracer.outside.attribute(self.class_attribute(kind, name), "fget")
            return calls.call(self, getter, (obj,), {})
        if runs_code(kind, name):
            self.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its own")
        if found is not None:
            self.class_attribute(kind, name)  # the class may change
        return self.adopted(getattr(obj, name))

    def class_attribute(self, kind: type, name: str) -> Any:
        """An attribute of a class: read from outside, unless the recording made the class."""
        outside = self.tracer.outside
        if kind.__module__ == "builtins" or kind.__module__.partition(".")[0] == "numpy":
            return getattr(kind, name)
        if kind not in outside.classes and "<locals>" in kind.__qualname__:
            return getattr(kind, name)
        if runs_code(type(kind), name) or isinstance(getattr(type(kind), name, None), property):
            self.tracer.effect("descriptor", f"{kind.__name__}.{name} runs code of its metaclass")
        return outside.attribute(kind, name)

    def attr_of_super(self, obj: Any, name: str) -> Any:
        """What ``super()`` finds: an attribute of the next class that has it."""
        classes = obj.__self_class__.__mro__
        for base in classes[classes.index(obj.__thisclass__) + 1 :]:
            if name in vars(base):
                self.class_attribute(base, name)
                break
        return self.adopted(getattr(obj, name))

    def item(self, obj: Any, key: Any, /) -> Any:
        if type(obj) is Traced or self.tracer.passive:
            return obj[key]
        if isinstance(obj, (list, tuple, dict)):
            if not self.is_known(obj):
                self.tracer.effect("outside-item", f"an item of a {type(obj).__name__}")
            return self.adopted(obj[self.hashed(key) if isinstance(obj, dict) else key])
        if self.tracer.outside.slot_of(obj) is not None:
            getter = getattr(type(obj), "__getitem__", None)
            if isinstance(getter, types.FunctionType):
                getter = self.class_attribute(type(obj), "__getitem__")
                return calls.call(self, getter, (obj, key), {})
            self.tracer.effect("outside-item", f"an item of a {type(obj).__name__}")
        elif isinstance(obj, np.ndarray) and is_traceable(obj):
            self.tracer.effect("unknown-array", "an array of unknown origin is read")
            return self.tracer.lift(obj)[key]
        return self.adopted(obj[key])

    def glob(self, name: str, /) -> Any:
        if self.tracer.passive:
            return self.globals[name] if name in self.globals else getattr_builtin(name)
        return self.tracer.outside.glob(self.globals, name)

    def free(self, name: str, /) -> Any:
        if self.tracer.passive:
            return self.cells[name].cell_contents
        return self.tracer.outside.free(self.cells[name], name)

    # -- stores ------------------------------------------------------------------------------------
    def setitem(self, value: Any, obj: Any, key: Any, /) -> None:
        if type(obj) is Traced or self.tracer.passive:
            obj[key] = value
        elif self.tracer.owns(obj) or (is_builtin(obj) and self.tracer.may_change(obj)):
            obj[self.hashed(key)] = value
        elif isinstance(obj, np.ndarray) and is_traceable(obj):
            self.tracer.effect("unknown-array", "an array of unknown origin is written")
            self.tracer.lift(obj)[key] = value
        else:
            self.stored(obj, "item", operator.setitem, key, value)

    def setattr_(self, value: Any, obj: Any, name: str, /) -> None:
        if type(obj) is Traced:
            obj._rm_tracer.set_attribute(obj, name, value)
        elif self.tracer.passive:
            setattr(obj, name, value)
        elif self.tracer.owns(obj):
            found = getattr(type(obj), name, None)
            if isinstance(found, property) and found.fset is not None:
                calls.call(self, found.fset, (obj, value), {})
                return
            if hasattr(type(found), "__set__") and runs_code(type(obj), name):
                self.tracer.effect("descriptor", f"{type(obj).__name__}.{name} runs code")
            setattr(obj, name, value)
        else:
            self.stored(obj, name, setattr, name, value)

    def delitem(self, obj: Any, key: Any, /) -> None:
        plain = type(obj) is Traced or self.tracer.passive or self.tracer.owns(obj)
        if plain or (is_builtin(obj) and self.tracer.may_change(obj)):
            del obj[self.hashed(key) if isinstance(obj, dict) else key]
        else:
            self.stored(obj, "item", operator.delitem, key)

    def delattr_(self, obj: Any, name: str, /) -> None:
        if self.tracer.passive or self.tracer.owns(obj):
            delattr(obj, name)
        else:
            self.stored(obj, name, delattr, name)

    def stored(self, obj: Any, what: str, store: Callable[..., Any], *args: Any) -> Any:
        """Change an object that the recording did not make."""
        tracer = self.tracer
        tracer.effect("outside-store", f"{type(obj).__name__}: its {what} is changed")
        line, twin = tracer.here(), tracer.twins.of_copy(obj)
        target = obj if twin is None else twin.original
        real = tuple([tracer.release(arg) for arg in args])
        return tracer.unknown(lambda: call_at(line, store, (target, *real), {}))

    def iop(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        fn = getattr(operator, "i" + op)
        if type(lhs) is Traced or self.tracer.passive or self.tracer.owns(lhs):
            return fn(lhs, rhs)
        if isinstance(lhs, np.ndarray) and is_traceable(lhs):
            self.tracer.effect("unknown-array", "an array of unknown origin is written")
            return fn(self.tracer.lift(lhs), rhs)
        if is_builtin(lhs) and self.tracer.may_change(lhs):
            return fn(lhs, rhs)
        if hasattr(type(lhs), f"__i{op.rstrip('_')}__"):
            return self.stored(lhs, "value", fn, rhs)
        return fn(lhs, rhs)

    # -- containers and loops ----------------------------------------------------------------------
    def fresh(self, container: Any, /) -> Any:
        if self.tracer.passive:
            return container
        if isinstance(container, dict) and any(type(key) is Traced for key in container):
            container = {self.hashed(key): value for key, value in container.items()}
        elif isinstance(container, set):
            container = {self.hashed(item) for item in container}
        return self.tracer.own(container)

    def iter_(self, obj: Any, /) -> Iterable[Any]:
        return self.shadowed(obj)  # type: ignore[no-any-return]  # what is iterated is iterable

    def loop(self, obj: Any, line: int, /) -> Iterable[Any]:
        del line  # loops unroll
        return self.shadowed(obj)  # type: ignore[no-any-return]  # as above

    def is_(self, lhs: Any, rhs: Any, /) -> bool:
        traced, other = (lhs, rhs) if type(lhs) is Traced else (rhs, lhs)
        if type(traced) is not Traced:
            return self.is_object(lhs, rhs)
        if type(other) is Traced or other is None:
            return lhs is rhs
        if isinstance(other, np.ndarray):
            return self.tracer.adopt(other) is traced
        if isinstance(other, (bool, np.bool_)) and traced._rm_kind != ARRAY:
            return self.tracer.look(traced, "an identity test") is other
        return False

    def is_object(self, lhs: Any, rhs: Any) -> bool:
        """``is`` of two objects that are no traced values: those from outside may be replaced."""
        slots = self.tracer.outside.slot_of(lhs), self.tracer.outside.slot_of(rhs)
        same = lhs is rhs
        if self.tracer.passive or None in slots:
            functions = (types.FunctionType, types.MethodType)
            if not same and isinstance(lhs, functions) and isinstance(rhs, functions):
                self.tracer.effect("identity", "functions from outside are compared by identity")
            return same
        if slots[0] != slots[1]:
            self.tracer.outside.relate(*slots, same=same)
        return same

    def is_not(self, lhs: Any, rhs: Any, /) -> bool:
        return not self.is_(lhs, rhs)

    def decorate(self, decorator: Any, definition: Any, /) -> Any:
        return self.call(decorator, definition)

    def is_known(self, container: Any) -> bool:
        """Whether a container is immutable, the recording's own, or a copy of one outside."""
        return (
            isinstance(container, tuple)
            or self.tracer.may_change(container)
            or self.tracer.twins.of_copy(container) is not None
        )

    # -- what builtins get -------------------------------------------------------------------------
    def length(self, value: Any) -> int:
        """``len``, guarded where the container is outside."""
        return len(self.given(value))

    def shadowed(self, value: Any) -> Any:
        """What is iterated: arrays lifted; the rest as it is, and an effect if it is not known."""
        if self.tracer.passive or type(value) is Traced:
            return value
        if isinstance(value, (list, tuple, dict)):
            if not self.is_known(value):
                self.tracer.effect("outside-container", f"a {type(value).__name__} is read")
            return value
        if isinstance(value, np.ndarray) and is_traceable(value):
            if self.tracer.adopt(value) is None:
                self.tracer.effect("unknown-array", "an array of unknown origin is read")
            return self.tracer.lift(value)
        if isinstance(value, set) and not self.tracer.may_change(value):
            self.tracer.effect("outside-container", "a set is read")
        elif self.tracer.outside.slot_of(value) is not None and hasattr(type(value), "__iter__"):
            self.tracer.effect("outside-container", f"a {type(value).__name__} is iterated")
        return value

    def given(self, value: Any) -> Any:
        """An argument of a builtin: functions are followed, outside objects are an effect."""
        if isinstance(value, (types.FunctionType, types.MethodType)) or self.undecorated(value):
            if isinstance(value, types.FunctionType) and self.is_rewritten(value):
                return value
            return lambda *args, **kwargs: self.call(value, *args, **kwargs)
        seen = self.shadowed(value)
        if isinstance(seen, (list, tuple, dict)):
            return seen
        plain = isinstance(seen, (type, types.ModuleType, types.BuiltinFunctionType))
        if seen is value and not plain and self.tracer.outside.slot_of(value) is not None:
            self.tracer.effect("outside-object", f"a {type(value).__name__} is used by a builtin")
        return seen

    def hashed(self, key: Any) -> Any:
        """A key for a dict or set: traced values in it are looked at."""
        if type(key) is Traced and key._rm_kind != ARRAY:
            return self.tracer.look(key, "a key")
        if type(key) is tuple and holds_traced(key):
            return tuple(map(self.hashed, key))
        return key

    def adopted(self, value: Any) -> Any:
        """An array that came out of an object capture knows nothing of is lifted, as an effect."""
        if type(value) is not Traced and isinstance(value, np.ndarray):
            if self.tracer.adopt(value) is None and is_traceable(value):
                self.tracer.effect("unknown-array", "an array of unknown origin is read")
            return adopt_loosely(self.tracer, value)
        return value


def is_builtin(value: Any) -> bool:
    """Whether a value is a builtin container that can be changed."""
    return isinstance(value, (list, dict, set))


def getattr_builtin(name: str) -> Any:
    """A builtin by name, with Python's own error."""
    import builtins  # noqa: PLC0415  (only code that outlived its recording comes here)

    try:
        return getattr(builtins, name)
    except AttributeError:
        raise NameError(f"name {name!r} is not defined") from None
