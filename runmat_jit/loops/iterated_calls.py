"""Calls with a generator expression, or a list that becomes an array, as kernel code: loops."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.loops import calls, sizes
from runmat_jit.loops.comprehensions import Comprehension, bound_names, names_of, statements_of
from runmat_jit.loops.emitter import Emitter
from runmat_jit.loops.values import FLOAT, FLOAT64, INT, Item, Object, Scalar, Unknown, scalar

_WAYS: Final[Mapping[Any, str]] = {sum: "sum", any: "any", all: "all", np.array: "array"}
"""Calls with a comprehension, and what they do with its items."""


def called(e: Emitter, of: Item, node: Comprehension) -> Item:
    """A call with a generator expression, or a list that becomes an array: a loop."""
    fn = of.value if isinstance(of, Object) else None
    way = _WAYS.get(fn) if isinstance(fn, Hashable) else None
    several = len(node.generators) > 1 or any(each.ifs for each in node.generators)
    if way is None or (way == "array" and several):
        raise calls.refusal_of(fn)
    total, count, last = names_of(node)
    if way == "array":
        iterated = node.generators[0].iter
        e.names[total] = e.memory.new(FLOAT64, sizes.dims_of_items(e, iterated), e.held_arrays())
    e.run(statements_of(node, way))
    found, names = e.names[total], (total, count, last, *bound_names(node))
    if way == "sum":
        found = _sum_of(e, scalar(found), scalar(e.names[count]))
    elif way == "array" and {kind.dtype for kind in scalar(e.names[last]).kinds} != {FLOAT64}:
        raise Unknown("an array of items that are no doubles")
    for name in names:
        e.names.pop(name, None)
    return found


def _sum_of(e: Emitter, total: Scalar, count: Scalar) -> Scalar:
    """A sum that begins with the integer 0; leaves where the class of the sum is open."""
    if len(total.kinds) > 1 and INT in total.kinds:
        e.k.leave_if(count.value < 1)
        total = replace(total, kinds=total.kinds - {INT})
    if FLOAT in total.kinds and sys.version_info >= (3, 12):
        raise Unknown("a sum of Python's floats, which it adds in another way")
    return total
