"""Runs a function once under a tracer, and makes a trace of what it did."""

from __future__ import annotations

import enum
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from runmat_jit.capture.key import is_constant, is_plain_function
from runmat_jit.capture.outside import is_plain_object
from runmat_jit.capture.pytree import Structure, is_namedtuple, take_apart, write_back
from runmat_jit.capture.tape import Nest, Ref, Return
from runmat_jit.capture.trace import Trace
from runmat_jit.capture.traced import Traced
from runmat_jit.capture.tracer import Tracer
from runmat_jit.capture.values import SCALARS, Unencodable


class Active(threading.local):
    """The tracer of the recording that runs on this thread."""

    tracer: Tracer | None = None


@dataclass(slots=True)
class Shadow:
    """A mutable container among the arguments and the copy that the function sees."""

    slot: int
    target: Any
    copy: Any
    before: list[Any]

    def changed(self) -> bool:
        """Whether the function changed the copy."""
        after = take_apart(self.copy)
        assert after is not None, "shadows are containers"
        structure, children = after
        before = take_apart(self.target)
        assert before is not None, "targets are containers"
        return structure != before[0] or not same_items(children, self.before)


def same_items(a: list[Any], b: list[Any]) -> bool:
    """Whether two lists hold the same objects."""
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


class Arguments:
    """Lifts the arguments of one call, in the order in which its key lists the leaves."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.leaves = tracer.encoder.leaves
        self.shadows: list[Shadow] = []

    def lift(self, value: Any) -> Any:
        """What the function sees of an argument."""
        kind = type(value)
        if kind is np.ndarray:
            traced = self.tracer.lift(value, self.leaf(value))
            self.tracer.mark_input(traced)
            return traced
        if (kind in SCALARS and kind is not bool) or isinstance(value, np.generic):
            slot = self.leaf(value)
            return self.tracer.lift(value, slot, frozenset((slot,)))
        for shadow in self.shadows:
            if shadow.target is value:
                return shadow.copy
        apart = take_apart(value)
        if apart is not None:
            return self.lift_container(value, *apart)
        if not (is_constant(value) or kind in (bool, str, bytes) or value is None):
            self.object(value)
        return value

    def leaf(self, value: Any) -> int:
        """The slot of the next leaf."""
        self.leaves.append(value)
        return len(self.leaves) - 1

    def object(self, value: Any) -> None:
        """An object that is no container: its attributes are read as outside state."""
        if value is Ellipsis or isinstance(value, enum.Enum):
            return
        if isinstance(value, types.FunctionType) and is_plain_function(value):
            return
        self.tracer.outside.register(value, self.leaf(value))
        if not is_plain_object(value):
            name = type(value).__qualname__
            self.tracer.effect("outside-object", f"an argument, a {name}, has operators of its own")

    def lift_container(self, value: Any, structure: Structure, children: list[Any]) -> Any:
        """A container of lifted children; mutable ones are shadowed and written back."""
        if structure.kind is tuple or is_namedtuple(value):
            return structure([self.lift(child) for child in children])
        slot = self.leaf(value)
        shadow = Shadow(slot, value, structure([None] * len(children)), [])
        self.shadows.append(shadow)
        lifted = [self.lift(child) for child in children]
        write_back(shadow.copy, structure(lifted))
        shadow.before = lifted
        self.tracer.own(shadow.copy)
        return shadow.copy


def record(
    tracer: Tracer,
    active: Active,
    body: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Any, Trace | None]:
    """Run ``body`` on lifted arguments: its real result, and the trace if it may be published."""
    arguments = Arguments(tracer)
    lifted_args = tuple(arguments.lift(arg) for arg in args)
    lifted_kwargs = {name: arguments.lift(value) for name, value in kwargs.items()}
    assert len(tracer.encoder.leaves) == tracer.count, "the key lists the same leaves"
    active.tracer = tracer
    try:
        try:
            result = body(*lifted_args, **lifted_kwargs)
        except BaseException as error:
            tracer.effect("exception", type(error).__name__)
            finish_containers(tracer, arguments.shadows)
            raise
        tracer.flush()
        exit_entry = encode_result(tracer, result, arguments.shadows)
        real = unwrap(tracer, result, arguments.shadows)
        finish_containers(tracer, arguments.shadows)
    finally:
        active.tracer = None
        tracer.close()
    if exit_entry is None or not tracer.publishable:
        return real, None
    tracer.note(exit_entry)
    return real, publish(tracer, exit_entry)


def publish(tracer: Tracer, result: Return) -> Trace:
    """The finished trace; it holds no values of this call."""
    return Trace(
        leaves=len(tracer.encoder.leaves),
        size=tracer.count,
        reads=tuple(tracer.reads),
        guards=tuple(tracer.guards.values()),
        steps=tuple(tracer.steps),
        result=result,
        entries=tracer.entries,
    )


def encode_result(tracer: Tracer, result: Any, shadows: list[Shadow]) -> Return | None:
    """The result as a template over slots; None if it holds what no template can rebuild."""
    try:
        tree = template(tracer, result, shadows)
        backs = tuple(
            (shadow.slot, template(tracer, shadow.copy, [s for s in shadows if s is not shadow]))
            for shadow in shadows
            if shadow.changed()
        )
    except Unencodable as reason:
        tracer.effect("result-not-rebuildable", str(reason))
        return None
    tracer.need((tree, *(back for _, back in backs)))
    return Return(tree, backs)


def template(tracer: Tracer, value: Any, shadows: list[Shadow]) -> Any:
    """A template in which shadows stand for the caller's own containers."""
    for shadow in shadows:
        if shadow.copy is value:
            return Ref(shadow.slot)
    slot = tracer.outside.slot_of(value)
    if slot is not None and type(value) is not Traced:
        return Ref(slot)
    apart = take_apart(value) if type(value) is not Traced else None
    if apart is None:
        return tracer.encode(value)
    structure, children = apart
    if structure.kind not in (tuple, list, dict) and not is_namedtuple(value):
        raise Unencodable(f"a result of type {structure.kind.__name__}")
    return Nest(structure, tuple(template(tracer, child, shadows) for child in children))


def unwrap(tracer: Tracer, value: Any, shadows: list[Shadow]) -> Any:
    """The real result: traced values replaced, shadows by the caller's own containers."""
    for shadow in shadows:
        if shadow.copy is value:
            return shadow.target
    if type(value) is Traced:
        return tracer.value(value)
    apart = take_apart(value)
    if apart is None:
        return tracer.raw(value)
    structure, children = apart
    real = [unwrap(tracer, child, shadows) for child in children]
    if structure.kind is tuple or is_namedtuple(value):
        return value if same_items(real, children) else structure(real)
    if not same_items(real, children):
        write_back(value, structure(real))
    return value


def finish_containers(tracer: Tracer, shadows: list[Shadow]) -> None:
    """Write what the function changed back into the caller's containers."""
    for shadow in shadows:
        if shadow.changed():
            others = [other for other in shadows if other is not shadow]
            apart = take_apart(shadow.copy)
            assert apart is not None, "shadows are containers"
            structure, children = apart
            write_back(shadow.target, structure([unwrap(tracer, c, others) for c in children]))
