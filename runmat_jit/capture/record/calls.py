"""Calls in captured code: dispatched by the callable's row, or else by its class."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import (
    attributes,
    builtin_calls,
    containers,
    escape_barrier,
    gathers,
    generators,
    masked_stores,
)
from runmat_jit.capture.record.answers import alike
from runmat_jit.capture.record.cover import cover_setitem
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.host_calls import run_effect, run_host
from runmat_jit.capture.record.traced import Traced, TracedMethod
from runmat_jit.capture.replay.plain_objects import in_class, is_plain_class
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.lines import call_at
from runmat_jit.capture.tape.values import (
    ARRAY,
    GENERIC,
    NOTHING,
    PYTHON,
    SCALARS,
    TEXTS,
    is_bound,
    is_random_state,
)
from runmat_jit.core.frames import uncounted
from runmat_jit.core.installed import is_installed
from runmat_jit.core.types import is_graph_dtype

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]
Handler = Callable[[Following, Any, Args, Kwargs], Any]

_QUIET_TYPES: Final = (int, float, complex, tuple, range, frozenset, np.dtype)
"""Classes of immutable values: their methods see nothing else and write nothing."""
_READING: Final = frozenset(("index", "count", "copy", "get", "keys", "values", "items"))
TAKING: Final = frozenset(("pop", "popitem", "remove", "setdefault"))
"""Methods that change a container and tell what it held: threads share work by them."""
_OPERANDS: Final = frozenset((Traced, bool, int, float))
"""Classes of operands that are what they seem to be."""
_WRITING_KEYWORDS: Final = frozenset(
    ("out", "output", "overwrite_a", "overwrite_b", "overwrite_x", "overwrite_ab", "overwrite_data")
)


@uncounted
def call(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Run ``fn(*args, **kwargs)`` the way that capture can follow best."""
    handler = _OF_CLASS.get(type(fn))
    if handler is not None:
        return handler(hooks, fn, args, kwargs)
    inner = hooks.undecorated(fn)
    if inner is not None:
        if type(inner) is not types.FunctionType:  # a method, a partial, another object
            key = ("decorated", id(fn))
            inner = hooks.tracer.outside.read(key, lambda _slots: fn.__wrapped__, inner, "callable")
        return call(hooks, inner, args, kwargs)
    callee = callables.of(fn)
    if callee is callables.EFFECT:
        return call_unlisted(hooks, fn, args, kwargs)
    return HANDLERS[callee.follow](hooks, fn, args, kwargs)


@uncounted
def call_unlisted(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A callable that no row names, by its class."""
    kind = type(fn)
    if kind is types.FunctionType:
        return call_function(hooks, fn, args, kwargs)
    if kind is types.MethodType:
        return call_method(hooks, fn, args, kwargs)
    if isinstance(fn, type):
        return call_class(hooks, fn, args, kwargs)
    if kind is types.MethodDescriptorType and args and type(args[0]) in (*TEXTS, Traced):
        return hooks.call(hooks.attr(args[0], fn.__name__), *args[1:], **kwargs)
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        return hooks.tracer.call(call_forms.bound_method(owner, fn.__name__), args, dict(kwargs))
    if owner is dict and fn.__name__ == "fromkeys" and args and not kwargs:
        return hooks.fresh(fn(*map(hooks.given, args)))
    if owner is not None and not isinstance(owner, types.ModuleType):
        return call_bound_builtin(hooks, fn, args, kwargs)
    call_of_type = getattr(kind, "__call__", None)  # noqa: B004  (the function itself is wanted)
    if isinstance(call_of_type, types.FunctionType) and not is_installed(call_of_type):
        return call(hooks, attributes.of_class(hooks, kind, "__call__"), (fn, *args), kwargs)
    return effect(hooks, fn, args, kwargs)


def effect(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Unknown code: everything pending is computed, then Python runs it on real values."""
    return run_effect(hooks.tracer, fn, args, kwargs, "capture does not know what it does")


def run(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A callable that only looks at classes, or keeps what it is given."""
    shadows = hooks.tracer.shadows
    if any(is_bound(arg) and shadows.of_copy(arg.__self__) is not None for arg in args):
        escape_barrier.beware(hooks.tracer, "a method of a container from outside is kept")
        args = tuple([hooks.tracer.release(arg) if is_bound(arg) else arg for arg in args])
    made = fn(*args, **kwargs)
    return hooks.tracer.own(made) if type(made) is fn else made


def does_more(fn: Any) -> bool:
    """True if a function that a builtin calls does more than to give a result of its arguments."""
    if type(fn) not in (types.BuiltinFunctionType, type(np.sum)):
        return False
    callee = callables.of(fn)
    if callee is callables.EFFECT and is_bound(fn):  # of text and numbers they write nothing
        return not isinstance(fn.__self__, (*TEXTS, *_QUIET_TYPES, list, dict, set, np.ufunc))
    return callee is callables.EFFECT or callee.ordered or callee.writes is not None


# -- NumPy and libraries ---------------------------------------------------------------------------
def call_numpy(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """An operation, with outside containers among its arguments read item by item."""
    if type(fn) is np.ufunc and not kwargs and all(type(arg) in _OPERANDS for arg in args):
        return hooks.tracer.call(fn, args, kwargs)
    return hooks.tracer.call(fn, *shadowed(hooks, args, kwargs))


def call_masked_store(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.putmask`` and ``np.copyto``, which may be the store of a number through a mask."""
    tracer = hooks.tracer
    found = None if tracer.passive else masked_stores.of_call(fn, args, kwargs)
    if found is not None and cover_setitem(tracer, found) is not None:
        tracer.call(call_forms.SETITEM, found, NOTHING)
        return None
    return call_numpy(hooks, fn, args, kwargs)


def call_take(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.take``: perhaps one that kernels know."""
    found = None if hooks.tracer.passive else gathers.of_call(args, kwargs)
    made = None if found is None else gathers.take(hooks.tracer, *found)
    return call_numpy(hooks, fn, args, kwargs) if made is None else made


def shadowed(hooks: Following, args: Args, kwargs: Kwargs) -> tuple[Args, dict[str, Any]]:
    """The arguments, with outside containers among them read."""
    named = {name: hooks.shadowed(value) for name, value in kwargs.items()}
    return tuple([hooks.shadowed(arg) for arg in args]), named


def call_library(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """An installed function, unless it may write an argument: a positional True might say so."""
    writes = any(kwargs.get(name) is not None for name in _WRITING_KEYWORDS & kwargs.keys())
    if writes or any(arg is True for arg in args):
        return effect(hooks, fn, args, kwargs)
    return run_host(hooks.tracer, fn, *shadowed(hooks, args, kwargs), writes=False)


def call_fact(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.shape``, ``np.isscalar`` and the like: a fact of a traced value."""
    if fn is np.isscalar and len(args) == 1 and type(args[0]) is not Traced:  # it asks the class
        return fn(*args, **kwargs)
    if len(args) == 1 and type(args[0]) in SCALARS and not kwargs:
        return fn(args[0])
    if len(args) != 1 or type(args[0]) is not Traced or kwargs:
        return call_numpy(hooks, fn, args, kwargs)
    of_array = args[0]._rm_kind == ARRAY and fn in (np.shape, np.ndim, np.size)
    return getattr(args[0], fn.__name__) if of_array else fn(alike(args[0]))


def call_of_dtypes(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A question about dtypes and shapes only, which a trace is recorded for."""
    args, named = shadowed(hooks, args, kwargs)
    if fn is np.broadcast_shapes and any(isinstance(arg, np.ndarray) for arg in args):
        return hooks.tracer.call(fn, args, named)  # arrays of extents
    return fn(*[dtype_stand_in(hooks, arg) for arg in args], **named)


def call_of_weak_dtypes(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.result_type``: Python numbers count by their class alone, NumPy's by their dtype."""
    args, _ = shadowed(hooks, args, kwargs)
    known = [type(arg) is Traced and arg._rm_kind in (PYTHON, GENERIC) for arg in args]
    pairs = zip(args, known, strict=True)
    return fn(*[alike(arg) if is_known else dtype_stand_in(hooks, arg) for arg, is_known in pairs])


def dtype_stand_in(hooks: Following, value: Any) -> Any:
    """An array alike in place of a traced one; numbers are looked at."""
    is_number = type(value) is Traced and value._rm_kind != ARRAY
    return hooks.tracer.look(value, "a dtype or shape") if is_number else alike(value)


def call_of_class(_hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.dtype``, ``np.finfo`` or ``np.iinfo``: of a value its class counts."""
    return fn(*map(alike, args), **kwargs)


def call_along_axes(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.apply_along_axis``: a host call where what it calls is a pure function of NumPy's."""
    if args and callables.of(args[0]).pure:
        return run_host(hooks.tracer, fn, *shadowed(hooks, args, kwargs), writes=False)
    return effect(hooks, fn, args, kwargs)


def call_each(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.atleast_1d`` and its siblings, which do the same to each of their arguments."""
    if len(args) == 1 or kwargs:
        return call_numpy(hooks, fn, args, kwargs)
    return tuple([call_numpy(hooks, fn, (arg,), {}) for arg in args])


def call_source(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A function of a library that is made of what capture knows, or calls what it is given.

    It is followed as if the user had written it; but not of arrays that no kernel computes.
    """
    if callables.of(fn).pure and any(map(is_of_no_kernel, args)):
        return call_numpy(hooks, fn, args, kwargs)
    return call_followed(hooks, getattr(fn, "_implementation", fn), args, kwargs)


def is_of_no_kernel(value: Any) -> bool:
    """True if a value is an array of a dtype that no kernel computes."""
    at = value._rm_geometry if type(value) is Traced and value._rm_kind == ARRAY else None
    return at is not None and not is_graph_dtype(at.dtype)


def call_chain(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """``np.linalg.multi_dot``, which looks for the order of many products in arrays of costs."""
    few = bool(args) and isinstance(args[0], list | tuple) and len(args[0]) <= 3
    return (call_source if few else call_numpy)(hooks, fn, args, kwargs)


# -- functions, methods, classes -------------------------------------------------------------------
@uncounted
def call_function(hooks: Following, fn: types.FunctionType, args: Args, kwargs: Kwargs) -> Any:
    """A Python function: rewritten, installed, or the user's."""
    if hooks.is_rewritten(fn):
        return fn(*args, **kwargs)
    if not is_installed(fn):
        return call_followed(hooks, fn, args, kwargs)
    follow = run if containers.is_method(hooks, fn, args) else effect
    return follow(hooks, fn, args, kwargs)


@uncounted
def call_followed(hooks: Following, fn: types.FunctionType, args: Args, kwargs: Kwargs) -> Any:
    """The user's function, rewritten; where that cannot be, an effect."""
    hooks.tracer.turn()  # a recursion is a loop, too
    converted = hooks.convert(fn)
    if isinstance(converted, Refused):
        why = f"it is not followed ({converted.reason}, line {converted.line})"
        return run_effect(hooks.tracer, fn, args, kwargs, why)
    args, named = hooks.tracer.outside.defaults(fn, args, dict(kwargs))
    return converted(*args, **named)


@uncounted
def call_method(hooks: Following, fn: types.MethodType, args: Args, kwargs: Kwargs) -> Any:
    """A bound method is its function on the object."""
    if type(fn.__self__) is Traced:  # `x.__add__(y)` and the like, written out
        return fn(*args, **kwargs)
    if is_random_state(type(fn.__self__)):
        return generators.call_method(hooks, fn, args, kwargs, effect)
    twin = hooks.tracer.shadows.of_original(fn.__self__)  # what the program sees of the object
    return call(hooks, fn.__func__, (fn.__self__ if twin is None else twin.copy, *args), kwargs)


def call_partial(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A partial is its function, with more arguments; those of one from outside are read."""
    outside = hooks.tracer.slot_of(fn) is not None
    read: Callable[[Any, str], Any] = hooks.attr if outside else getattr
    func, first, named = read(fn, "func"), read(fn, "args"), read(fn, "keywords")
    return call(hooks, func, (*first, *args), {**named, **kwargs})


def call_value(hooks: Following, fn: Traced, args: Args, kwargs: Kwargs) -> Any:
    """A traced value: NumPy says that it is not callable."""
    return hooks.tracer.value(fn)(*args, **kwargs)


def call_bound_builtin(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """A method of a builtin object."""
    owner = fn.__self__
    if isinstance(owner, TEXTS):
        return builtin_calls.call_text_method(hooks, fn, args, kwargs)
    if isinstance(owner, SCALARS) and holds_traced(args):
        return hooks.tracer.call(call_forms.method_of(fn.__name__), (owner, *args), kwargs)
    if isinstance(owner, (tuple, frozenset)):
        return builtin_calls.call_plain(hooks, fn, tuple(map(hooks.given, args)), kwargs)
    if isinstance(owner, _QUIET_TYPES):
        return call_at(hooks.tracer.here(), fn, tuple(map(hooks.given, args)), kwargs)
    twin = hooks.tracer.shadows.of_copy(owner)
    taken = twin is not None and fn.__name__ in TAKING
    known = hooks.tracer.owns(owner) or (twin is not None and fn.__name__ in _READING)
    known = known and not taken
    if not known and twin is not None:
        change, why = getattr(twin.original, fn.__name__), "it changes what lies outside"
        return run_effect(hooks.tracer, change, args, kwargs, why, reason="outside-store")
    is_container = isinstance(owner, (list, dict, set))
    known = known or (is_container and hooks.tracer.may_change(owner))
    known = known or builtin_calls.is_own_generator(owner)
    if not known:
        return effect(hooks, fn, args, kwargs)
    if isinstance(owner, (dict, set)) and args:
        args = (hooks.hashed(args[0]), *args[1:])
    return builtin_calls.call_plain(hooks, fn, args, kwargs)


def call_class(hooks: Following, cls: type, args: Args, kwargs: Kwargs) -> Any:
    """A user's class: the instance is the recording's own, its ``__init__`` is followed."""
    own = hooks.tracer.own
    if cls is np.ndarray and 0 < len(args) < 3 and kwargs.keys() <= {"dtype"}:
        return hooks.call(np.empty, *args, **kwargs)
    if is_namedtuple_class(cls):
        return cls(*args, **kwargs)
    if len(args) == 1 and not kwargs and containers.is_plain_enum(cls):
        return cls(hooks.hashed(args[0]))
    if not makes_plain_instances(cls):
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


def makes_plain_instances(cls: type) -> bool:
    """True if a class of the user's makes objects as Python does, which may go unnoticed."""
    foreign = ("builtins", "functools", "collections", "threading", "weakref", "warnings")
    makes: Any = cls.__new__
    plain = type(cls) is type and makes is object.__new__ and cls.__module__ not in foreign
    return plain and in_class(cls, "__del__") is None  # it is to go when the program lets it go


def is_namedtuple_class(cls: type) -> bool:
    """True if a class was made by ``namedtuple`` and does nothing else."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields") and cls.__new__ is not tuple.__new__


_OF_CLASS: Final[dict[type, Handler]] = {
    TracedMethod: run,
    np.ufunc: call_numpy,
    Traced: call_value,
    functools.partial: call_partial,
}

HANDLERS: Final[dict[str, Handler]] = {
    "": effect,
    "numpy": call_numpy,
    "masked store": call_masked_store,
    "take": call_take,
    "library": call_library,
    "fact": call_fact,
    "of dtypes": call_of_dtypes,
    "of weak dtypes": call_of_weak_dtypes,
    "of a class": call_of_class,
    "along axes": call_along_axes,
    "each": call_each,
    "source": call_source,
    "chain": call_chain,
    "generator": generators.call,
    "run": run,
    "builtin": builtin_calls.call_builtin,
    "scalar": builtin_calls.call_scalar,
    "string": builtin_calls.call_text,
    "of constants": builtin_calls.call_of_constants,
    "class": builtin_calls.call_type,
    "truth": builtin_calls.call_truth,
    "length": builtin_calls.call_length,
    "question of classes": builtin_calls.call_isinstance,
    "attribute": builtin_calls.call_getattr,
    "question of attributes": builtin_calls.call_hasattr,
    "next": builtin_calls.call_next,
    "container": containers.make,
    "on list": containers.call_on_list,
    "replaced instance": containers.replaced,
    "replaced copy": containers.replaced_copy,
}
"""Handlers of calls, by :attr:`runmat_jit.capture.callables.Callee.follow`."""
