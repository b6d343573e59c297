"""The tape: what a call did, in program order.

Values live in numbered slots. Entries are imperative: an in-place operation is an in-place
operation, a view is a view. Between them stand marks: where what was pending has been computed,
what the program can ask for no more, which facts of the surroundings the rest holds for. Entries
have numbers, marks have none: a run that is fed from a replay notes the same entries.

:mod:`.text` shows a tape, :mod:`.verify_tape` says what a valid one is, :mod:`.functionalize` makes
graphs of stretches of it; :mod:`runmat_jit.capture.replay.segment` makes the steps of a replay of
it, and :mod:`runmat_jit.capture.replay.interpret` runs it with NumPy on the caller's memory.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, final

import numpy as np

from runmat_jit.capture.tape.edits import Edits
from runmat_jit.capture.tape.lines import Line
from runmat_jit.capture.tape.storage import Geometry, Storage
from runmat_jit.core.frozen import frozen
from runmat_jit.core.protocols import Program
from runmat_jit.core.reasons import require_cause
from runmat_jit.core.slotted import slotted, slotted_object
from runmat_jit.core.source import SourceLine
from runmat_jit.core.types import Part
from runmat_jit.ops.spec import Op as Row


# -- templates: values with slots in place of what differs from call to call -----------------------
@frozen
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
        name = getattr(self.build, "__name__", repr(self.build))
        return f"{name}({', '.join(map(repr, self.items))})"


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


def spread(template: Any, value: Any, slots: list[Any]) -> None:
    """Put a result into the slots that its template names."""
    if template is None:
        return
    if type(template) is Ref:
        slots[template.slot] = value
    elif type(template) is Nest:
        children = value.values() if isinstance(value, dict) else value
        for item, child in zip(template.items, children, strict=True):
            spread(item, child, slots)


# -- operations that rows cover --------------------------------------------------------------------
@frozen
class Compute:
    """A row computes the result, with parameters, of operands cast to these dtypes."""

    row: Row
    operand_dtypes: tuple[np.dtype, ...]
    params: Mapping[str, Hashable]
    dtype: np.dtype
    shape: tuple[int, ...]


@slotted_object
class AbstractValue:
    """Abstract value: its dtype (a class, of Python's numbers), shape, strides and kind.

    The inline cache makes each once, so that equal ones are one object.
    """

    dtype: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    kind: str
    is_freed: bool | None = None
    """Of a new result: see :func:`storage.is_freed`; None until it is asked for."""


@slotted_object
class Pattern:
    """Computation, and the abstract value of its result; one object for the same facts."""

    meaning: Compute
    result: AbstractValue


@frozen
class CoveredCall:
    """A call that a row covers, and how others with equal abstract arguments are deferred.

    ``operands`` says which arguments the row reads, None for all in order; ``into`` which one it
    writes, None for a new result. ``weak`` lists the operands whose number must fit the dtype that
    they are cast to. ``fn``, ``args`` and ``kwargs`` are the first such call: others have the same
    constants, and traced values from other slots. ``is_single``: it is an operation on single
    numbers whose bits NumPy defines.
    """

    pattern: Pattern
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    operands: tuple[int, ...] | None = None
    into: int | None = None
    weak: tuple[int, ...] = ()
    is_single: bool = False


CONSTANT: Final = -1
"""Stands where a slot would: a number is part of the program."""


@final
@frozen
class ScalarOperand:
    """A Python or NumPy scalar that a replay finds in ``slot``; ``value`` is this call's.

    In ``CONSTANT``, which is no slot, it is a number of the program.

    ``early``: it is known before anything runs, for it depends on arguments alone.
    """

    slot: int
    value: Any
    early: bool = False


Operand = Geometry | ScalarOperand | bool | int | float | np.generic
"""Operand of an operation: an array, a scalar by slot, or a constant."""


_NOWHERE: Final = Storage(-1, np.dtype(np.bool_), (0,), (1,)).geometry()


@slotted
class Operation:
    """A covered call on values of ``slots``; a new result goes to the slot ``out``.

    While it is pending, ``operands`` are what it reads and ``target`` what it writes: all of a new
    storage, or part of one. Both are dropped when it has been computed, for they hold memory.
    """

    call: CoveredCall
    slots: Sequence[int] | None
    """Of the traced arguments, in order; None: those that ``call`` itself mentions."""
    out: int | None
    line: Line | None
    number: int
    operands: tuple[Operand, ...]
    target: Geometry

    @property
    def meaning(self) -> Compute:
        """The row, and what it computes."""
        return self.call.pattern.meaning

    @property
    def source(self) -> SourceLine | None:
        """The user's line, for messages."""
        return None if self.line is None else self.line.source

    @property
    def fn(self) -> Callable[..., Any]:
        """Callable of the call."""
        return self.call.fn

    @property
    def args(self) -> tuple[Any, ...]:
        """The arguments, as templates."""
        if self.slots is None:
            return self.call.args
        numbers = iter(self.slots)
        return tuple([Ref(next(numbers)) if type(arg) is Ref else arg for arg in self.call.args])

    @property
    def kwargs(self) -> Mapping[str, Any]:
        """The keyword arguments, as templates."""
        return self.call.kwargs

    @property
    def places(self) -> tuple[Operand, ...]:
        """Operands of a pending operation, and its target at the end."""
        return (*self.operands, self.target)

    def done(self) -> None:
        """It has been computed: let the memory go."""
        self.operands, self.target = (), _NOWHERE

    def __str__(self) -> str:
        out = None if self.out is None else Ref(self.out)
        return shown(self.fn, self.args, self.kwargs, out)


# -- what NumPy or Python does ---------------------------------------------------------------------
@frozen
class Raised:
    """An exception instead of a result."""

    kind: type[Exception]
    args: tuple[str, ...]

    def error(self) -> Exception:
        """Such an exception."""
        return self.kind(*self.args)


@slotted
class Call:
    """A call of ``fn`` that NumPy or Python makes (a host call); ``out`` is its result's template.

    ``structure`` are types, dtypes, shapes and strides of the result; ``checked``: the rest of the
    tape holds for this structure alone. ``writes``: it writes an argument. ``again``: it may be
    done twice. ``early``: it depends on arguments alone, and is done before anything else.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: Any
    line: Line | None
    structure: Any = None
    checked: bool = False
    writes: bool = False
    again: bool = False
    early: bool = False
    errstate: Any = None
    """NumPy's state of floating-point errors, where it is not that of the call's beginning."""
    shape: tuple[int, ...] | None = None
    """Of a new array in C order, if it has formulas."""
    raised: Raised | None = None
    """Exception that it raised instead, which the program may have caught."""
    resident: bool = False
    """Arrays may lie on a device."""
    new_slots: tuple[int, ...] = ()
    """Slots of values that it made."""
    large: tuple[int, ...] = ()
    """Of these, arrays that a replay forgets when the program does."""

    def __str__(self) -> str:
        return shown(self.fn, self.args, self.kwargs, self.out) + " (host)"


@slotted
class Single:
    """An operation on single numbers, or the read of one, by NumPy at the user's line.

    It may be done again, unless it warns: ``raising`` is the state of errors under which it then
    raises, None for what never warns. ``quiet``: it is done under that state, for warnings of
    entries before it come later.
    """

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    out: int
    line: Line | None
    number: int
    meaning: Compute | None = None
    raising: Any = None
    quiet: bool = False
    errstate: Any = None
    kwargs: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        return shown(self.fn, self.args, {}, Ref(self.out)) + " (number)"


@slotted
class View:
    """A call whose result shows memory of its first operand."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    out: int
    line: Line | None

    def __str__(self) -> str:
        return shown(self.fn, self.args, self.kwargs, Ref(self.out)) + " (view)"


def shown(fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], out: Any) -> str:
    """The text of a call."""
    texts = [*map(repr, args), *(f"{name}={value!r}" for name, value in kwargs.items())]
    return f"{out!r} = {getattr(fn, '__name__', repr(fn))}({', '.join(texts)})"


# -- what Python looks at --------------------------------------------------------------------------
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
class Draw:
    """Blocks of a generator's stream, of which operations make numbers: key and position in slots.

    The generator passes them where the program runs that computes the operations. ``goes_on``: they
    follow those of an earlier draw, whose position is in the slots.
    """

    generator: Any
    """A template."""
    blocks: int
    key: int
    counter: int
    goes_on: bool = False

    def __str__(self) -> str:
        more = "more " if self.goes_on else ""
        return f"%{self.key}, %{self.counter} = {self.blocks} {more}blocks of {self.generator!r}"


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
    size: int = 0
    """Slots in use."""
    resident: bool = False

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
class WriteBack:
    """Edits of the container in a slot; ``values`` is the template of those that they need."""

    slot: int
    edits: Edits
    values: Nest


@frozen
class Return:
    """The result, and what was changed in the containers among the arguments."""

    tree: Any
    write_backs: tuple[WriteBack, ...] = ()

    def __str__(self) -> str:
        return f"return {self.tree!r}"


Entry = Operation | Call | Single | View | Read | Draw | Guard | Branch | Effect | Return
"""Entries of the program, numbered in program order."""


# -- marks -----------------------------------------------------------------------------------------
Source = tuple[int, np.dtype | Part | np.ndarray | None]
"""Where a replay finds an input of a program: the slot, and the dtype that a scalar is cast to.

With ``CONSTANT`` stands the number itself.
"""


@frozen
class Flush:
    """Flush: one program has computed what was pending.

    ``inputs`` lists where each graph input is found;
    ``outputs`` the slots of the fresh arrays and whether each is a NumPy scalar. ``upto`` entries
    have been done then. ``large`` outputs a replay forgets when the program does, ``sized`` ones if
    the extents of the call make them large. ``draws`` are those that it makes.
    """

    program: Program
    inputs: tuple[Source, ...]
    outputs: tuple[tuple[int, bool], ...]
    warn: frozenset[str]
    writes: bool
    upto: int
    large: tuple[int, ...] = ()
    sized: tuple[int, ...] = ()
    draws: tuple[Draw, ...] = ()

    def __str__(self) -> str:
        return f"flush {list(self.inputs)} -> {list(self.outputs)}"


@frozen
class Free:
    """Slots of values that the program can ask for no more."""

    slots: tuple[int, ...]

    def __str__(self) -> str:
        return "free " + ", ".join(f"%{slot}" for slot in self.slots)


@frozen
class LibraryName:
    """A name of a library that means what it meant: tests may replace it."""

    namespace: dict[str, Any]
    name: str
    value: Any

    def __str__(self) -> str:
        return f"name {self.name}"


@frozen
class Length:
    """A length of the shape for which a tape was recorded; it may be a formula."""

    slot: int
    number: int

    def __str__(self) -> str:
        return f"%{self.slot} = length {self.number}"


Mark = Flush | Free | LibraryName | Length
_MARKS: Final = frozenset((Flush, Free, LibraryName, Length))


def is_mark(item: Entry | Mark) -> bool:
    """True if an item of a tape has no number."""
    return type(item) in _MARKS
