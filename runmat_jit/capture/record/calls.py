"""What a call in captured code is: an operation, code to rewrite, a pure builtin, or an effect."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import logging
import os
import types
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import (
    attributes,
    callbacks,
    containers,
    environment,
    escape_barrier,
    filters,
    generators,
    host_calls,
    logs,
    prints,
    texts,
)
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.libraries import is_library
from runmat_jit.capture.record.release import is_made_here
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.replay.plain_objects import has_metaclass, in_class, is_plain_class
from runmat_jit.capture.replay.repeated import PURE_STANDARD, is_repeated
from runmat_jit.capture.replay.streams import StreamMethod
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.values import PYTHON, TEXTS, is_random_state

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks

_OF_LIBRARIES: Final = (types.BuiltinFunctionType, types.MethodType)
_CALLING: Final[frozenset[Any]] = frozenset((map, filter, sorted, min, max, functools.reduce))
"""Builtins that call what they are given."""
_QUIET_TYPES: Final = (int, float, complex, tuple, range, frozenset, np.dtype)
"""Classes of immutable values: their methods see nothing else and write nothing."""
_READING: Final = frozenset(("index", "count", "copy", "get", "keys", "values", "items"))
_HARMLESS: Final[frozenset[Any]] = frozenset(
    (np.errstate, np.dtype, np.finfo, np.iinfo, contextlib.nullcontext, contextlib.suppress)
)
Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]


def call(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Run ``fn(*args, **kwargs)`` the way that capture can follow best."""
    kind = type(fn)
    if kind is TracedMethod:
        return fn(*args, **kwargs)
    if kind is np.ufunc:
        return call_numpy(hooks, fn, args, kwargs)
    if kind is Traced:
        return hooks.tracer.value(fn)(*args, **kwargs)  # NumPy says that it is not callable
    inner = hooks.undecorated(fn)
    if inner is not None:
        if type(inner) is not types.FunctionType:  # a method, a partial, another object
            key = ("decorated", id(fn))
            inner = hooks.tracer.outside.read(key, lambda _slots: fn.__wrapped__, inner, "callable")
        return call(hooks, inner, args, kwargs)
    if kind is functools.partial:
        return call_partial(hooks, fn, args, kwargs)
    if kind in _OF_LIBRARIES and is_repeated(fn):
        return host_calls.run_host(hooks.tracer, fn, args, kwargs, writes=False)
    if kind is types.MethodType:
        return call_method(hooks, fn, args, kwargs)
    if kind is types.FunctionType:
        return call_function(hooks, fn, args, kwargs)
    if fn is print:
        return prints.call_print(hooks, args, kwargs)
    if fn is warnings.warn:
        return prints.call_warn(hooks, args, kwargs)
    if fn is warnings.catch_warnings:
        return filters.caught(hooks, args, kwargs)
    if kind is StreamMethod:
        return prints.call_stream(hooks, fn, args, kwargs)
    if generators.makes(fn) or generators.changes_the_global_state(fn):
        return generators.call(hooks, fn, args, kwargs)
    if is_numpy(fn):
        return call_numpy(hooks, fn, args, kwargs)
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return hooks.tracer.call(call_forms.bound_method(owner, fn.__name__), args, dict(kwargs))
    if in_set(fn, callables.PURE_BUILTINS) or in_set(fn, callables.MATH):
        return call_builtin(hooks, fn, args, kwargs)
    if in_set(fn, _HARMLESS):
        return fn(*args, **kwargs)
    if in_set(fn, containers.FUNCTIONS):
        return containers.call(hooks, fn, args, kwargs)
    if isinstance(fn, type):
        return call_class(hooks, fn, args, kwargs)
    if kind is types.MethodDescriptorType and args and type(args[0]) in (*TEXTS, Traced):
        return hooks.call(hooks.attr(args[0], fn.__name__), *args[1:], **kwargs)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return call_bound_builtin(hooks, fn, args, kwargs)
    call_of_type = getattr(kind, "__call__", None)  # noqa: B004  (the function itself is wanted)
    if isinstance(call_of_type, types.FunctionType) and not is_library(call_of_type):
        return call(hooks, attributes.of_class(hooks, kind, "__call__"), (fn, *args), kwargs)
    return call_library(hooks, fn, args, kwargs)


def call_library(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """An installed function: a call that a replay repeats, if it is known to do nothing else."""
    if not callables.is_pure_library(fn, args, kwargs):
        return effect(hooks, fn, args, kwargs)
    args = tuple(hooks.shadowed(arg) for arg in args)
    named = {name: hooks.shadowed(value) for name, value in kwargs.items()}
    return host_calls.run_host(hooks.tracer, fn, args, named, writes=False)


def in_set(fn: Any, group: frozenset[Any]) -> bool:
    """Membership that unhashable callables do not have."""
    try:
        return fn in group
    except TypeError:
        return False


def effect(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Unknown code: everything pending is computed, then Python runs it on real values."""
    return host_calls.run_effect(
        hooks.tracer, fn, args, kwargs, "capture does not know what it does"
    )


def is_numpy(fn: Any) -> bool:
    """Whether a callable is one of NumPy's functions, ufuncs or scalar types."""
    if isinstance(fn, np.ufunc):
        return True
    if isinstance(fn, type):
        return issubclass(fn, np.generic)
    module = getattr(fn, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] == "numpy"


def call_numpy(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """An operation, with outside containers among its arguments read item by item."""
    tracer = hooks.tracer
    if type(fn) is np.ufunc and not kwargs and all(type(arg) in _OPERANDS for arg in args):
        return tracer.call(fn, args, kwargs)
    args = tuple(hooks.shadowed(arg) for arg in args)
    kwargs = {name: hooks.shadowed(value) for name, value in kwargs.items()}
    if in_set(fn, _STATIC) and len(args) == 1 and type(args[0]) is Traced and not kwargs:
        return getattr(args[0], fn.__name__)
    if not holds_traced((args, kwargs)) and in_set(fn, _HARMLESS):
        return fn(*args, **kwargs)
    if in_set(fn, callbacks.FUNCTIONS):
        return callbacks.call(hooks, fn, args, kwargs)
    if in_set(fn, texts.OF_ARRAYS):
        return texts.of_arrays(hooks, fn, args, kwargs)
    if in_set(fn, _ABOUT_TYPES):
        return fn(*map(type_facts, args), **kwargs)
    if fn is np.result_type:
        return fn(*map(weak_type_facts, args))
    return tracer.call(fn, args, kwargs)


_OPERANDS: Final = frozenset((Traced, bool, int, float))
"""Classes of operands that are what they seem to be."""
_STATIC: Final[frozenset[Any]] = frozenset((np.shape, np.ndim, np.size))
_ABOUT_TYPES: Final[frozenset[Any]] = frozenset(
    (np.iscomplexobj, np.isrealobj, np.issubdtype, np.broadcast_shapes, np.promote_types)
)
"""Functions that look at dtypes and shapes only, which a trace is recorded for."""


def type_facts(value: Any) -> Any:
    """An empty array of the same dtype, for questions about dtypes."""
    is_array = type(value) is Traced and value._rm_kind != PYTHON
    return np.empty(0, value.dtype) if is_array else value


def weak_type_facts(value: Any) -> Any:
    """Likewise, with Python numbers by their type alone: any value of it promotes alike."""
    is_number = type(value) is Traced and value._rm_kind == PYTHON
    return value.__class__() if is_number else type_facts(value)


def call_function(hooks: Hooks, fn: types.FunctionType, args: Args, kwargs: Kwargs) -> Any:
    """A Python function: NumPy's, rewritten, installed, or the user's."""
    if hooks.is_rewritten(fn):
        return fn(*args, **kwargs)
    if is_numpy(fn):
        return call_numpy(hooks, fn, args, kwargs)
    if fn.__module__ == "contextlib":
        return fn(*args, **kwargs)
    if is_library(fn):
        return call_of_standard_library(hooks, fn, args, kwargs)
    return call_followed(hooks, fn, args, kwargs)


def call_of_standard_library(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """An installed Python function: one that moves values only, or any other."""
    if fn in containers.FUNCTIONS:
        return containers.call(hooks, fn, args, kwargs)
    if fn is warnings.warn:
        return prints.call_warn(hooks, args, kwargs)
    if fn is logging.getLogger:
        return logs.get_logger(hooks, args, kwargs)
    if fn in filters.SETTERS:
        return filters.set_filter(hooks, fn, args, kwargs)
    if fn is os.getenv:
        return environment.get(hooks, args, kwargs)
    if fn in PURE_STANDARD and all(type(arg) is str for arg in args) and not kwargs:
        made = fn(*args)
        return hooks.fresh(made) if type(made) is list else made
    if containers.is_method(hooks, fn, args):
        return fn(*args, **kwargs)
    if fn in containers.REPLACERS and len(args) == 1 and is_instance(args[0]):
        return containers.replaced(hooks, args, kwargs)
    if fn is containers.COPY_REPLACE and len(args) == 1 and hasattr(type(args[0]), "__replace__"):
        return hooks.call(hooks.attr(args[0], "__replace__"), **kwargs)
    if fn is dataclasses.asdict and len(args) == 1 and not kwargs and is_instance(args[0]):
        return containers.taken_apart(hooks, args[0])
    return call_library(hooks, fn, args, kwargs)


def is_instance(value: Any) -> bool:
    """Whether a value is an instance of a dataclass."""
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def call_followed(hooks: Hooks, fn: types.FunctionType, args: Args, kwargs: Kwargs) -> Any:
    """The user's function, rewritten; where that cannot be, an effect."""
    converted = hooks.convert(fn)
    if isinstance(converted, Refused):
        why = f"it is not followed ({converted.reason}, line {converted.line})"
        return host_calls.run_effect(hooks.tracer, fn, args, kwargs, why)
    args, named = hooks.tracer.outside.defaults(fn, args, dict(kwargs))
    return converted(*args, **named)


def call_method(hooks: Hooks, fn: types.MethodType, args: Args, kwargs: Kwargs) -> Any:
    """A bound method is its function on the object."""
    if type(fn.__self__) is Traced:  # `x.__add__(y)` and the like, written out
        return fn(*args, **kwargs)
    if is_random_state(type(fn.__self__)):
        return generators.call_method(hooks, fn, args, kwargs, effect)
    if logs.concerns(fn):
        return logs.call(hooks, fn, args, kwargs)
    if fn.__self__ is os.environ and fn.__name__ == "get":
        return environment.get(hooks, args, kwargs)
    twin = hooks.tracer.shadows.of_original(fn.__self__)  # what the program sees of the object
    return call(hooks, fn.__func__, (fn.__self__ if twin is None else twin.copy, *args), kwargs)


def call_partial(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A partial is its function, with more arguments; those of one from outside are read."""
    outside = hooks.tracer.slot_of(fn) is not None
    read: Callable[[Any, str], Any] = hooks.attr if outside else getattr
    func, first, named = read(fn, "func"), read(fn, "args"), read(fn, "keywords")
    return call(hooks, func, (*first, *args), {**named, **kwargs})


def call_builtin(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A builtin that sees nothing but its arguments."""
    tracer = hooks.tracer
    first = args[0] if args else None
    if fn is type and len(args) == 1 and type(first) is Traced:
        return first.__class__
    if fn in (getattr, hasattr) and len(args) > 1:
        args = (first, hooks.hashed(args[1]), *args[2:])
    if fn is getattr and len(args) in (2, 3) and isinstance(args[1], str):
        return hooks.attr(*args) if len(args) == 2 else attributes.read_or(hooks, *args)
    if fn is next and args:
        known = hooks.tracer.owns(first) or (is_generator(first) and is_made_here(first))
        return next(*args) if known else effect(hooks, fn, args, kwargs)
    if fn is len and len(args) == 1:
        return hooks.length(first)
    if fn is hasattr and len(args) == 2 and isinstance(args[1], str):
        return attributes.has(hooks, *args)
    if fn in (isinstance, issubclass) and len(args) == 2:
        classes = args[1] if isinstance(args[1], tuple) else (args[1],)
        if any(map(has_metaclass, classes)):
            escape_barrier.beware(tracer, f"{fn.__name__} of a class with a metaclass")
    if fn in (isinstance, issubclass, callable, hasattr, type):
        return fn(*args, **kwargs)
    if in_set(fn, callables.SCALAR_FUNCTIONS) and not kwargs and operation(fn, args):
        return tracer.call(fn, args, {})
    if in_set(fn, texts.MAKERS) and len(args) <= 1 + (fn is format) and not kwargs:
        return texts.make(hooks, fn, args)
    if fn in (ord, bytes, str) and holds_traced(args):
        return host_calls.run_host(tracer, fn, args, kwargs, writes=False)
    if fn is bool and len(args) == 1:
        return bool(first)
    if fn is functools.partial:
        make: Any = fn  # what it calls is followed when it is called
        return make(*args, **kwargs)
    given = hooks.called if fn in _CALLING else hooks.given
    seen = [given(arg) for arg in args]
    named = {name: given(value) for name, value in kwargs.items()}
    made = fn(*seen, **named)
    if isinstance(made, (list, dict, set)) or hasattr(made, "__next__"):
        return hooks.fresh(made)
    return made


def is_generator(value: Any) -> bool:
    """Whether a value is a generator."""
    return type(value) is types.GeneratorType


def operation(fn: Any, args: Args) -> bool:
    """Whether a numeric builtin or operator works on traced numbers or arrays as an operation."""
    if not any(type(arg) is Traced for arg in args):
        return False
    if fn in (min, max):
        scalars = all(type(a) is not Traced or a._rm_kind == PYTHON for a in args)
        kinds = {a.__class__ if type(a) is Traced else type(a) for a in args}
        return len(args) > 1 and scalars and len(kinds) == 1
    return True


def call_bound_builtin(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A method of a builtin object."""
    owner = fn.__self__
    if isinstance(owner, TEXTS):
        return texts.call_method(hooks, fn, args, kwargs)
    if isinstance(owner, _QUIET_TYPES):
        seen = [hooks.given(arg) for arg in args]
        return fn(*seen, **kwargs)
    builtin = isinstance(owner, (list, dict, set))
    if hooks.tracer.owns(owner) or (builtin and hooks.tracer.may_change(owner)):
        if isinstance(owner, (dict, set)):
            args = tuple(hooks.hashed(arg) if n == 0 else arg for n, arg in enumerate(args))
        return fn(*args, **kwargs)
    twin = hooks.tracer.shadows.of_copy(owner)
    if twin is not None:
        if fn.__name__ not in _READING:
            change, why = getattr(twin.original, fn.__name__), "it changes what lies outside"
            return host_calls.run_effect(
                hooks.tracer, change, args, kwargs, why, reason="outside-store"
            )
        if isinstance(owner, dict):
            args = tuple(hooks.hashed(arg) if n == 0 else arg for n, arg in enumerate(args))
        return fn(*args, **kwargs)
    if is_generator(owner) and is_made_here(owner):
        return fn(*args, **kwargs)
    return effect(hooks, fn, args, kwargs)


def call_class(hooks: Hooks, cls: type, args: Args, kwargs: Kwargs) -> Any:
    """A user's class: the instance is the recording's own, its ``__init__`` is followed."""
    own = hooks.tracer.own
    if is_namedtuple_class(cls):
        return cls(*args, **kwargs)
    if cls in containers.CLASSES:
        return containers.make(hooks, cls, args, kwargs)
    if len(args) == 1 and not kwargs and containers.is_plain_enum(cls):
        return cls(hooks.hashed(args[0]))
    makes: Any = cls.__new__
    if type(cls) is not type or makes is not object.__new__ or is_foreign(cls):
        return effect(hooks, cls, args, kwargs)
    if in_class(cls, "__del__") is not None:  # it is to go when the program lets it go
        return effect(hooks, cls, args, kwargs)
    if not is_plain_class(cls):
        escape_barrier.beware(hooks.tracer, f"{cls.__qualname__} has operators of its own")
    if dataclasses.is_dataclass(cls) and not hasattr(cls, "__post_init__"):
        return own(cls(*args, **kwargs))
    initialize = attributes.of_class(hooks, cls, "__init__")
    if initialize is object.__init__:
        return own(cls(*args, **kwargs))
    if not isinstance(initialize, types.FunctionType):
        return effect(hooks, cls, args, kwargs)
    instance = own(object.__new__(cls))
    call(hooks, initialize, (instance, *args), kwargs)
    return instance


def is_namedtuple_class(cls: type) -> bool:
    """Whether a class was made by ``namedtuple`` and does nothing else."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__new__ is not tuple.__new__


def is_foreign(cls: type) -> bool:
    """Whether a class comes from an installed library or the standard library."""
    return cls.__module__ in ("builtins", "functools", "collections", "threading", "weakref")
