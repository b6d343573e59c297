"""A loop as native code runs it beside other steps of a call: short ones, without Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.types import is_complex
from runmat_jit.loops.draws import COUNTER
from runmat_jit.loops.emit import ComplexResult, Emitted
from runmat_jit.loops.forms import ArrayForm, Form, NumberForm, ObjectForm
from runmat_jit.loops.layouts import LastItem
from runmat_jit.loops.variant import Variant, Watch

MOST_TURNS: Final = 1 << 14
"""Of a loop that native code runs to its end: others are run in slices, between which signals are
handled and other threads run."""
MOST_STORED: Final = 1 << 18
"""Elements that all iterations of it may store at once, likewise."""
_FORMS: Final = (ArrayForm, NumberForm, ObjectForm)


@frozen_object
class LastRun:
    """The last run of a loop, as a whole, by one kernel.

    Attributes:
        variant: The kernel.
        given: Numbers and shapes of the operands.
        watch: What was to end it.
        careful: It looked for the events of each operation.
        turns: How many there were.

    """

    variant: Variant
    given: Sequence[Any]
    watch: Watch
    careful: bool
    turns: int


@frozen_object
class NativeLoop:
    """A loop, and what its run is to be like.

    Attributes:
        variant: The kernel.
        given: Numbers and shapes of operands for which there is memory for the arrays it makes.
        watch: What ends it.
        limit: Turns that it may have.
        count: Is told of runs: how many, all their iterations, and those of the last.

    """

    variant: Variant
    given: Sequence[Any]
    watch: Watch
    limit: int
    count: Callable[[int, int, int], None]


def is_for_native_code(emitted: Emitted, forms: Iterable[Form]) -> bool:
    """True if a run takes arrays and numbers, and makes numbers and new arrays, and no more."""
    if emitted.lists or emitted.numbers or emitted.width:
        return False
    results = [what for _, what in emitted.results]
    return (
        all(isinstance(form, _FORMS) and not is_complex_number(form) for form in forms)
        and not any(name.startswith(COUNTER) or "." in name for name, _ in emitted.carried)
        and not any(isinstance(what, ComplexResult | LastItem) for what in results)
    )


def is_complex_number(form: Form) -> bool:
    """True if a form is that of a complex number."""
    return isinstance(form, NumberForm) and is_complex(form.kind.dtype)


def native_loop(last: LastRun, count: Callable[[int, int, int], None]) -> NativeLoop | None:
    """The loop, as native code runs it like the last time; None where it does not."""
    limit = min(MOST_TURNS, MOST_STORED // max(1, last.variant.emitted.span(last.given)))
    variant = last.variant
    if last.turns > limit or not is_for_native_code(variant.emitted, variant.forms):
        return None
    return NativeLoop(last.variant, last.given, last.watch, limit, count)
