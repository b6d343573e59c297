"""Names get their values."""

from __future__ import annotations

from runmat_jit.loops import control_flow, indexing, open_extents
from runmat_jit.loops.emitter import Emitter, tag
from runmat_jit.loops.values import UNBOUND, Complex, ComplexName, Item, Scalar, parts_of


def bind(e: Emitter, name: str, made: Item) -> None:
    """Give a name its value; the one that it had is gone."""
    made = indexing.settled(e, made)
    old = e.names.get(name)
    if isinstance(old, Scalar) and old is not made:
        e.arithmetic.dropped(old)
    if isinstance(made, Complex):
        for part, number in zip(parts_of(name), (made.re, made.im), strict=True):
            bind(e, part, number)
        made = ComplexName(made.kinds)
    elif isinstance(old, ComplexName):
        for part in parts_of(name):
            bind(e, part, UNBOUND)
    if name in e.open_names:
        made = open_extents.opened(e, name, made)
    if name in e.told:
        e.names[tag(name)] = control_flow.is_numpys(e, made)
    e.names[name] = made
