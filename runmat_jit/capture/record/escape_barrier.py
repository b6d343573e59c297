"""Code that no hook sees: operators of the program's classes, managers, iterators.

Python runs it by itself, and it may hold real arrays: arguments, what lies outside, and whatever
was given to unknown code. Once there may be such code, nothing stays pending that reads or writes
memory that it can get at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from runmat_jit.capture.replay.plain_objects import is_inert
from runmat_jit.capture.tape.pending import Operand
from runmat_jit.capture.tape.storage import Geometry

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer


def beware(tracer: Tracer, detail: str) -> None:
    """Something has turned up that runs code of its own, such as an object with operators."""
    tracer.effect("outside-object", detail)
    tracer.wary = True


def run(tracer: Tracer, code: Callable[[], Any]) -> Any:
    """Let unknown code run: it sees no traced value, and may change what it was given."""
    tracer.loose = True
    tracer.twins.push(tracer.release)
    tracer.suspended += 1
    try:
        found = code()
        tracer.wary = tracer.wary or not is_inert(found)
        return found
    finally:
        tracer.suspended -= 1
        tracer.twins.pull(tracer.lift)
        tracer.token = None  # it may have changed how NumPy reports events


def look_again(tracer: Tracer) -> None:
    """Before something outside is read: such code may have changed it since it was read last."""
    if tracer.wary and not tracer.passive:
        tracer.outside.memo.clear()
        tracer.twins.push(tracer.release)
        tracer.twins.pull(tracer.lift)


def settle(tracer: Tracer, operands: Iterable[Operand], *, writes: bool) -> None:
    """Compute an operation that was just noted, if such code might see that it is pending."""
    if (writes and (tracer.loose or tracer.wary)) or (
        tracer.wary and any(map(is_exposed, operands))
    ):
        tracer.flush()


def is_exposed(operand: Operand) -> bool:
    """Whether code that no hook sees may write to what an operation reads."""
    return isinstance(operand, Geometry) and operand.storage.exposed
