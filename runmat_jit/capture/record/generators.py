"""Random generators, NumPy's and our own: a replay makes each draw again, in program order.

The numbers are the generator's own and the state that advances is the caller's: a trace knows a
generator by the slot that holds it, never by its numbers. What reads or sets a state is an effect.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.callables import Callee
from runmat_jit.capture.record import draws, host_calls
from runmat_jit.capture.record.concrete import concrete_integer
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import MethodCall
from runmat_jit.capture.tape.values import ARRAY
from runmat_jit.core.generators import is_own_generator

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]


def of_method(owner: Any, name: str) -> Callee:
    """Facts of a method of a generator, or of what generators are made of."""
    kind = type(owner)
    draws = kind in (np.random.Generator, np.random.RandomState) or is_own_generator(kind)
    if draws and name.startswith("_"):
        return callables.EFFECT
    return callables.method("Generator" if draws else "BitGenerator", name)


def read(hooks: Following, obj: Any, name: str) -> Any:
    """An attribute of a generator: a method, or part of its state."""
    value = getattr(obj, name)
    if type(value) is not types.MethodType:
        hooks.tracer.effect("outside-object", f"{name} of a {type(obj).__name__} is read")
    return value


def call(hooks: Following, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Make a generator, or draw from NumPy's global one by a function of the module."""
    args, named = seen(hooks, args, kwargs)
    return host_calls.run_host(hooks.tracer, fn, args, named, writes=callables.of(fn).ordered)


def call_method(
    hooks: Following, fn: types.MethodType, args: Args, kwargs: Kwargs, effect: Callable[..., Any]
) -> Any:
    """A method of a generator: a draw, or an effect."""
    owner: Any = fn.__self__
    name, tracer = fn.__name__, hooks.tracer
    callee = of_method(owner, name)
    if not callee.ordered or tracer.slot_of(fn) is not None:
        return effect(hooks, fn, args, kwargs)
    args, named = seen(hooks, args, kwargs)
    written = (named.get("out"), args[0] if args and name == "shuffle" else None)
    if any(target is not None and not is_array(target) for target in written):
        return effect(hooks, fn, args, kwargs)  # a list is shuffled, item by item
    if tracer.slot_of(owner) is None:  # the method, or the object, never changes
        key = ("generator", id(owner))
        tracer.outside.read(key, lambda _slots: owner, owner, "a generator")
    asked = draws.wanted(name, args, named) if is_own_generator(type(owner)) else None
    if asked is not None and draws.is_for_programs(tracer):
        return draws.record(tracer, owner, asked)
    cannot_raise = has_fixed_numbers(args, named, but_first=callee.cannot_raise is True)
    method = MethodCall(name, ordered=True, cannot_raise=cannot_raise)
    return host_calls.run_host(tracer, method, (owner, *args), named, writes=True)


def seen(hooks: Following, args: Args, kwargs: Kwargs) -> tuple[Args, dict[str, Any]]:
    """The arguments; numbers that say a shape are looked at."""
    found = tuple([hooks.shadowed(arg) for arg in args])
    found = tuple([concrete_integer(arg) if type(arg) is tuple else arg for arg in found])
    named = {name: hooks.shadowed(value) for name, value in kwargs.items()}
    if "size" in named:
        named["size"] = concrete_integer(named["size"])
    return found, named


def has_fixed_numbers(args: Args, kwargs: Kwargs, *, but_first: bool) -> bool:
    """True if a draw gets no traced value that it may refuse; a first array it may only shuffle."""
    others = [value for key, value in kwargs.items() if key != "out"]
    if but_first and args and is_array(args[0]):
        args = args[1:]
    return not holds_traced((*args, *others))


def is_array(value: Any) -> bool:
    """True if a value is a traced array."""
    return type(value) is Traced and value._rm_kind == ARRAY
