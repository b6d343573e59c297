"""The row of calls that no kernel computes: NumPy, or another library, runs them in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runmat_jit.core.frozen import frozen
from runmat_jit.ops.spec import VARIADIC, Op


@frozen
class HostCall:
    """A pure function on the host, with everything bound but its operands.

    ``fn`` takes the operands in order: arrays, or NumPy scalars for numbers given by value. It
    neither raises nor warns, writes nothing, and returns a new array of the node's dtype and shape
    (a number where that is 0-d). Its hash and equality decide which calls are one computation.
    """

    fn: Callable[..., Any]
    name: str
    """The call in texts, without its operands: ``sort(axis=-1)``."""

    def __repr__(self) -> str:
        return f"<{self.name}>"


def _called(*operands: Any, call: HostCall) -> Any:
    return call.fn(*operands)


ROWS = (
    Op(
        name="host_call",
        doc="A pure ``call`` that the host computes, of any operands.",
        kind="host",
        arity=VARIADIC,
        numpy=_called,
        layout="C",
        zero_d="array",
    ),
)
