"""Stores into attributes of plain instances from outside: done at once, and by each replay."""

from __future__ import annotations

import types
from typing import Any, Final

from runmat_jit.capture.record import host_calls
from runmat_jit.capture.record.following import Following
from runmat_jit.capture.record.outside import is_constant
from runmat_jit.capture.record.traced import Traced
from runmat_jit.capture.replay.plain_objects import in_class, is_plain_object
from runmat_jit.capture.tape.call_forms import SETATTR
from runmat_jit.capture.tape.values import TEXT

LIMIT: Final = 16
"""Instances of a class up to which a replay compares each with each."""


def store(hooks: Following, obj: Any, name: str, value: Any) -> bool:
    """``obj.name = value``: whether it was done, so that a replay does it again.

    The object must be known, and store without code of its own; what is stored is an array, a
    number or a constant. Later reads find it without looking.
    """
    tracer, outside = hooks.tracer, hooks.tracer.outside
    usable = (
        tracer.publishable
        and tracer.boundary is None
        and not (tracer.unseen_code or tracer.escaped)
    )
    if not usable or tracer.slot_of(obj) is None or not stores_plainly(obj, name):
        return False
    if not (is_constant(value) or (type(value) is Traced and value._rm_kind != TEXT)):
        return False
    kind = type(obj)
    others = tracer.held_objects(kind)
    if len(others) > LIMIT:
        return False
    key, source = ("stores", id(kind), name), f"how a {kind.__name__} stores {name}"
    outside.read(key, lambda _slots: stores_by_itself(kind, name), True, source)
    outside.apart(obj, others)
    host_calls.run_host(tracer, SETATTR, (obj, name, value), {}, writes=True)
    outside.changed[id(obj)] = obj
    outside.memo["attribute", id(obj), name] = getattr(obj, name), value
    return True


def stores_plainly(obj: Any, name: str) -> bool:
    """Whether a store changes what the instance holds under the name, and nothing else."""
    plain = is_plain_object(obj) and not isinstance(obj, types.FunctionType)
    return plain and not name.startswith("__") and stores_by_itself(type(obj), name)


def stores_by_itself(kind: type, name: str) -> bool:
    """Whether no code of a class's own runs when an attribute of an instance is stored."""
    found = in_class(kind, name)
    is_slot = isinstance(found, types.MemberDescriptorType)
    own: Any = kind.__setattr__
    return own is object.__setattr__ and (is_slot or not hasattr(type(found), "__set__"))
