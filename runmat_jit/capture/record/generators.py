"""NumPy's random generators: each draw is a call that a replay makes again, in program order.

The numbers are NumPy's own and the state that advances is the caller's: a trace knows a generator
by the slot that holds it, never by its numbers. What reads or sets a state is an effect.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from runmat_jit.capture.record import host_calls
from runmat_jit.capture.record.concrete import concrete_integer
from runmat_jit.capture.record.encoder import holds_traced
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.tape.call_forms import MethodCall
from runmat_jit.capture.tape.entries import Call as Op
from runmat_jit.capture.tape.values import ARRAY, is_random_state

if TYPE_CHECKING:
    from runmat_jit.capture.record.hooks import Hooks

Args = tuple[Any, ...]
Kwargs = Mapping[str, Any]

_NO_DRAWS: Final = frozenset(("get_state", "set_state", "tomaxint"))
_OF_SEEDS: Final = frozenset(("spawn", "generate_state", "random_raw", "advance", "jumped"))
_SAME_SHAPE: Final = frozenset(("shuffle", "permutation", "permuted"))
"""Methods that succeed for every array: they look at no number."""


def makes(fn: Any) -> bool:
    """Whether a function makes a generator of its arguments alone, or of fresh entropy."""
    if "numpy.random" not in sys.modules:  # it takes a while to load
        return False
    return fn is np.random.default_rng or (isinstance(fn, type) and is_random_state(fn))


def changes_the_global_state(fn: Any) -> bool:
    """Whether it is a function of ``numpy.random`` that is no method of its generator."""
    if "numpy.random" not in sys.modules:
        return False
    return any(fn is known for known in (np.random.seed, np.random.ranf, np.random.sample))


def is_draw(owner: Any, name: str) -> bool:
    """Whether a method of a generator is one that a replay may call again."""
    if type(owner) in (np.random.Generator, np.random.RandomState):
        return not name.startswith("_") and name not in _NO_DRAWS
    return name in _OF_SEEDS


def draws(calls: Iterable[Op]) -> bool:
    """Whether calls of a tape advance a generator."""
    functions = [call.fn for call in calls]
    return any(changes_the_global_state(fn) or getattr(fn, "draws", False) for fn in functions)


def read(hooks: Hooks, obj: Any, name: str) -> Any:
    """An attribute of a generator: a method, or part of its state."""
    value = getattr(obj, name)
    if type(value) is not types.MethodType:
        hooks.tracer.effect("outside-object", f"{name} of a {type(obj).__name__} is read")
    return value


def call(hooks: Hooks, fn: Any, args: Args, kwargs: Kwargs) -> Any:
    """Make a generator, or draw from NumPy's global one by a function of the module."""
    args, named = seen(hooks, args, kwargs)
    return host_calls.run_host(hooks.tracer, fn, args, named, writes=changes_the_global_state(fn))


def call_method(
    hooks: Hooks, fn: types.MethodType, args: Args, kwargs: Kwargs, effect: Callable[..., Any]
) -> Any:
    """A method of a generator: a draw, or an effect."""
    owner: Any = fn.__self__
    name, tracer = fn.__name__, hooks.tracer
    if not is_draw(owner, name) or tracer.slot_of(fn) is not None:
        return effect(hooks, fn, args, kwargs)
    args, named = seen(hooks, args, kwargs)
    written = (named.get("out"), args[0] if args and name == "shuffle" else None)
    if any(target is not None and not is_array(target) for target in written):
        return effect(hooks, fn, args, kwargs)  # a list is shuffled, item by item
    if tracer.slot_of(owner) is None:  # the method, or the object, never changes
        key = ("generator", id(owner))
        tracer.outside.read(key, lambda _slots: owner, owner, "a generator")
    method = MethodCall(name, draws=True, sure=is_sure(name, args, named))
    return host_calls.run_host(tracer, method, (owner, *args), named, writes=True)


def seen(hooks: Hooks, args: Args, kwargs: Kwargs) -> tuple[Args, dict[str, Any]]:
    """The arguments; numbers that say a shape are looked at."""
    found = tuple([hooks.shadowed(arg) for arg in args])
    found = tuple([concrete_integer(arg) if type(arg) is tuple else arg for arg in found])
    named = {name: hooks.shadowed(value) for name, value in kwargs.items()}
    if "size" in named:
        named["size"] = concrete_integer(named["size"])
    return found, named


def is_sure(name: str, args: Args, kwargs: Kwargs) -> bool:
    """Whether a draw that succeeded once does so for all values of its arguments."""
    others = [value for key, value in kwargs.items() if key != "out"]
    if name in _SAME_SHAPE and args and is_array(args[0]):
        args = args[1:]
    return not holds_traced((*args, *others))


def is_array(value: Any) -> bool:
    """Whether a value is a traced array."""
    return type(value) is Traced and value._rm_kind == ARRAY
