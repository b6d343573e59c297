"""The row of calls that no kernel computes: NumPy, or another library, runs them in their place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy._core import umath

from runmat_jit.core.errstate import raising_state
from runmat_jit.core.frozen import frozen
from runmat_jit.ops.spec import VARIADIC, Op


@frozen
class HostCall:
    """A pure function on the host, with everything bound but its operands.

    ``fn`` takes the operands in order: arrays, or NumPy scalars for numbers given by value. It does
    not raise, writes nothing, and returns a new array of the node's dtype and shape (a number where
    that is 0-d). It reports no floating-point events, unless its row is ``reporting_host_call``.
    Its hash and equality decide which calls are one computation.
    """

    fn: Callable[..., Any]
    name: str
    """The call in texts, without its operands: ``sort(axis=-1)``."""

    def __repr__(self) -> str:
        return f"<{self.name}>"


def watched(fn: Callable[..., Any], operands: Sequence[Any]) -> tuple[Any, bool]:
    """What a call gives, and whether a floating-point event happened, of which nobody is told."""
    before = umath._extobj_contextvar.set(_RAISING)
    try:
        return fn(*operands), False
    except FloatingPointError:
        pass
    finally:
        umath._extobj_contextvar.reset(before)
    with np.errstate(all="ignore"):
        return fn(*operands), True


_RAISING: Final = raising_state(frozenset(("divide", "over", "invalid")))


def called(*operands: Any, call: HostCall) -> Any:
    """What a host call gives."""
    return call.fn(*operands)


ROWS = (
    Op(
        name="host_call",
        doc="A pure ``call`` that the host computes, of any operands.",
        kind="host",
        arity=VARIADIC,
        numpy=called,
        layout="C",
        zero_d="array",
    ),
    Op(
        name="reporting_host_call",
        doc="A pure ``call`` that the host computes, of any operands, which may report events.",
        kind="host",
        arity=VARIADIC,
        numpy=called,
        layout="C",
        zero_d="array",
        ufunc="host call",
        events=frozenset(("divide", "overflow", "invalid")),
    ),
)
