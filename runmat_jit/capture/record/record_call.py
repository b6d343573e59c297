"""Runs a function once under a tracer, and makes a trace of what it did."""

from __future__ import annotations

import types
from typing import Any, Final

import numpy as np

from runmat_jit.capture.record import escape_barrier
from runmat_jit.capture.record.result import encode_result
from runmat_jit.capture.record.shadow_copies import ShadowCopy
from runmat_jit.capture.record.tracer import Tracer
from runmat_jit.capture.replay.key import Contents, Given, is_constant
from runmat_jit.capture.replay.plain_objects import is_plain_class, is_plain_object
from runmat_jit.capture.replay.tree import Segment
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.capture.tape.pytree import Structure, is_namedtuple, take_apart, write_back
from runmat_jit.capture.tape.values import SCALARS, is_number, is_random_state
from runmat_jit.core.frames import uncounted
from runmat_jit.core.signal_handlers import raised_by_handler

_CONSTANTS: Final = frozenset((str, bytes, type(None)))
"""Classes whose values are looked at: the key has them."""


class Arguments:
    """Lifts the arguments of one call, in the order in which its key lists the leaves."""

    def __init__(self, tracer: Tracer, contents: Contents) -> None:
        self.tracer, self.contents = tracer, contents
        self.leaves = tracer.encoder.leaves
        self.methods: list[tuple[types.MethodType, int]] = []

    def lift(self, value: Any) -> Any:
        """Argument as the function sees it."""
        kind = type(value)
        if kind in _CONSTANTS:
            return value
        if kind is np.ndarray:
            traced = self.tracer.lift(value, self.leaf(value))
            self.tracer.mark_input(traced)
            return traced
        if (kind in SCALARS and kind is not bool) or is_number(value):
            slot = self.leaf(value)
            return self.tracer.lift(value, slot, frozenset((slot,)))
        twin = self.tracer.shadows.of_original(value)
        if twin is not None:
            return twin.copy
        apart = self.contents.get(id(value)) or take_apart(value)
        if apart is not None:
            return self.lift_container(value, *apart)
        if not is_constant(value) and self.tracer.slot_of(value) is None:
            self.object(value)
        return value

    def leaf(self, value: Any) -> int:
        """The slot of the next leaf."""
        self.leaves.append(value)
        return len(self.leaves) - 1

    def object(self, value: Any) -> None:
        """An object that is no container: its attributes are read as outside state."""
        slot = self.leaf(value)
        self.tracer.outside.register(value, slot)
        if type(value) is types.MethodType:
            self.methods.append((value, slot))
        elif not (is_random_state(type(value)) or is_plain_object(value)):
            name = type(value).__qualname__
            escape_barrier.beware(self.tracer, f"an argument, a {name}, has operators of its own")

    def lift_container(self, value: Any, structure: Structure, children: list[Any]) -> Any:
        """A container of lifted children; mutable ones are copied, and written back."""
        if structure.kind not in (list, dict, tuple) and not is_plain_class(structure.kind):
            name = structure.kind.__qualname__
            escape_barrier.beware(self.tracer, f"an argument, a {name}, has operators of its own")
        if structure.kind is tuple or is_namedtuple(value):
            return structure([self.lift(child) for child in children])
        made = structure([None] * len(children))
        twin = ShadowCopy(self.leaf(value), value, made, argument=True, structure=structure)
        self.tracer.shadows.add(twin)
        twin.real, twin.before = children, [self.lift(child) for child in children]
        write_back(twin.copy, structure(twin.before))
        self.tracer.own(twin.copy)
        return twin.copy


@uncounted
def record(
    tracer: Tracer,
    fn: types.FunctionType,
    body: types.FunctionType,
    given: Given,
) -> tuple[Any, Segment | None]:
    """Run ``body``, made of ``fn``: its real result, and the first new segment to publish."""
    args, kwargs, contents = given
    arguments = Arguments(tracer, contents)
    lifted_args = tuple([arguments.lift(arg) for arg in args])
    lifted_kwargs = {name: arguments.lift(value) for name, value in kwargs.items()}
    assert len(tracer.encoder.leaves) == tracer.count, "the key lists the same leaves"
    try:
        tracer.begin()
        for method, slot in arguments.methods:
            tracer.outside.method(method, slot)
        lifted_args, lifted_kwargs = tracer.outside.defaults(fn, lifted_args, lifted_kwargs)
        try:
            result = body(*lifted_args, **lifted_kwargs)
        except BaseException as error:
            if raised_by_handler(error):
                tracer.tape.interrupt()
            tracer.effect("exception", type(error).__name__)
            tracer.release(error)
            hide_our_frames(error)
            raise
        tracer.flush()
        exit_entry = encode_result(tracer, result) if tracer.left is None else None
        real = tracer.returned(result)
    finally:
        tracer.close()
    if exit_entry is None or not tracer.publishable:
        return real, None
    return real, tracer.tape.finish(exit_entry, tracer.count)
