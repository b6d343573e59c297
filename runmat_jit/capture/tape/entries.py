"""The tape: what a call did, in program order.

Values live in numbered slots. Entries are imperative: an in-place operation is an in-place
operation, a view is a view. They are never changed; those that each operation makes are not frozen,
which would take four times as long. :mod:`runmat_jit.capture.replay.interpret` runs a tape with
NumPy on the caller's memory; :mod:`runmat_jit.capture.tape.functionalize` turns stretches of it
into graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.reasons import require_cause
from runmat_jit.core.source import SourceLine
from runmat_jit.ops.spec import Op as Row

if TYPE_CHECKING:
    from runmat_jit.capture.tape.lines import Line
    from runmat_jit.capture.tape.pending import KnownCall


@dataclass(slots=True, unsafe_hash=True)
class Ref:
    """Stands for the value in a slot."""

    slot: int

    def __repr__(self) -> str:
        return f"%{self.slot}"


@frozen
class Nest:
    """A container of refs and constants; ``build`` makes it from its items.

    Where the container turns up again, a ref to ``slot`` stands for it.
    """

    build: Callable[[list[Any]], Any]
    items: tuple[Any, ...]
    slot: int | None = None

    def __repr__(self) -> str:
        name = getattr(self.build, "__name__", type(self.build).__name__)
        return f"{name}({', '.join(map(repr, self.items))})"


@frozen
class Compute:
    """A row computes the result, with parameters, of operands cast to these dtypes."""

    row: Row
    operand_dtypes: tuple[np.dtype, ...]
    params: Mapping[str, Hashable]
    dtype: np.dtype
    shape: tuple[int, ...]


@dataclass(slots=True)
class Op:
    """A call of ``fn``: the result goes to ``out`` (a ref, a nest of refs, or None).

    ``meaning`` is set where a row covers the call or where the result is a view (None and
    ``view`` true); else NumPy or Python runs it (a host call).
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: Any
    line: SourceLine | None
    meaning: Compute | None = None
    view: bool = False
    structure: Any = None
    """Of a host call's result: types, dtypes, shapes and strides."""

    def __str__(self) -> str:
        args = ", ".join([*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())])
        name = getattr(self.fn, "__name__", repr(self.fn))
        note = " (view)" if self.view else "" if self.meaning else " (host)"
        return f"{self.out!r} = {name}({args}){note}"


@frozen
class Read:
    """Outside state: ``get(slots)`` gives it; the trace holds while it is what it was."""

    slot: int
    get: Callable[[list[Any]], Any]
    holds: Callable[[Any, list[Any]], bool]
    source: str

    def __str__(self) -> str:
        return f"%{self.slot} = read {self.source}"


@frozen
class Guard:
    """A value that Python looked at: the trace holds for this value only."""

    slot: int
    holds: Callable[[Any], bool]
    seen: str

    def __str__(self) -> str:
        return f"guard %{self.slot} is {self.seen}"


@frozen
class Branch:
    """A value that Python decided by: with another outcome the program goes on differently."""

    value: Any
    """A template."""
    outcome_of: Callable[[Any], Hashable]
    outcome: Hashable
    line: SourceLine | None

    def __str__(self) -> str:
        return f"branch on {self.value!r}: {self.outcome!r}"


@frozen
class Effect:
    """Something that the tape cannot repeat: the trace is not published."""

    reason: str
    detail: str
    line: SourceLine | None

    def __post_init__(self) -> None:
        require_cause(self.reason)

    def __str__(self) -> str:
        return f"effect {self.reason}: {self.detail}"


@frozen
class Return:
    """The result, and the containers among the arguments that changed."""

    tree: Any
    write_backs: tuple[tuple[int, Any], ...] = ()

    def __str__(self) -> str:
        return f"return {self.tree!r}"


Entry = Op | Read | Guard | Branch | Effect | Return
Repeated = tuple["KnownCall", list[int], int | None, "Line | None"]
"""The arguments of :meth:`KnownCall.op`, which makes an :class:`Op` when somebody asks for it."""
Noted = Entry | Repeated


def op_of(repeated: Repeated) -> Op:
    """The entry of a known call."""
    known, slots, out, line = repeated
    return known.op(slots, out, line)


def entries_of(noted: Iterable[Noted]) -> list[Entry]:
    """The entries of a tape."""
    return [op_of(each) if isinstance(each, tuple) else each for each in noted]


def build(template: Any, slots: list[Any]) -> Any:
    """The value of a template: refs replaced by what their slots hold."""
    kind = type(template)
    if kind is Ref:
        return slots[template.slot]
    if kind is Nest:
        made = template.build([build(item, slots) for item in template.items])
        if template.slot is not None:
            slots[template.slot] = made
        return made
    return template


def refs(template: Any) -> tuple[int, ...]:
    """The slots that a template mentions, in order."""
    if type(template) is Ref:
        return (template.slot,)
    if type(template) is Nest:
        return tuple(slot for item in template.items for slot in refs(item))
    return ()


def to_text(entries: list[Entry]) -> str:
    """One entry a line."""
    return "".join(f"{entry}\n" for entry in entries)
