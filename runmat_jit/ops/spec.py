"""What a row of the op table says, and the checks that every row must pass.

A row is everything the compiler knows about an operation. Capture asks it how a call reads
(``bind``) and what comes out (``result``); lowering asks it for its kernel code; diagnostics ask
for its floating-point events; nothing else names an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value

Event = Literal["divide", "overflow", "underflow", "invalid"]
Params = Mapping[str, Hashable]
Kind = Literal["elementwise", "reduce", "move", "create", "structure", "host"]
Exactness = Literal["bit-defined", "ours"]


@dataclass(frozen=True, slots=True)
class Weak:
    """A Python bool, int, float or complex among operands: it adapts to the arrays' dtype."""

    type: type


Operand = TensorType | Weak
"""What a rule knows of an operand. NumPy scalars are 0-d tensors."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A call as the row reads it: operands in order, parameters by name (normalized, hashable)."""

    operands: tuple[Any, ...]
    params: dict[str, Hashable] = field(default_factory=dict)
    out: Any = None


@dataclass(frozen=True, slots=True)
class Result:
    """What comes out: the type, and the dtype that each operand is cast to first."""

    type: TensorType
    operand_dtypes: tuple[np.dtype, ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """How a reduction row lowers.

    ``combine`` is an operation of a kernel's ``total``; an empty reduction gives ``identity``
    (None: NumPy raises).
    """

    combine: str
    identity: float | bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One row. Fields that a kind does not use keep their defaults."""

    name: str
    doc: str
    kind: Kind
    arity: int
    numpy: Callable[..., Any]
    """NumPy's meaning: called with operand arrays and the parameters as keywords."""

    spellings: tuple[Callable[..., Any], ...] = ()
    """Callables that mean this row: ufunc, functions, operators."""
    methods: tuple[str, ...] = ()
    """Array methods that mean this row."""
    bind: Callable[[tuple[Any, ...], Mapping[str, Any]], Bound | None] | None = None
    """Reads a call's arguments; None where the row does not cover those keywords."""
    result: Callable[[tuple[Operand, ...], Params], Result | None] | None = None
    """The dtype and shape rule; None where it is not complete. Raises nothing: a call that NumPy
    would refuse is not covered, so that NumPy raises its own error."""

    expand: Callable[..., Value] | None = None
    """Elementwise kernel code: ``expand(builder, *values, **params) -> value``."""
    reduction: Reduction | None = None

    exactness: Exactness = "bit-defined"
    events: frozenset[Event] = frozenset()
    """Floating-point events that NumPy may report for it, on any covered dtype."""
    absorbs: tuple[bool, ...] = ()
    """For each operand: may the result be finite although the operand is not?"""
    event_test: Callable[[Builder, tuple[Value, ...], Value], Value | None] | None = None
    """An extra condition (i1) for events that leave a finite result, such as integer division by
    zero."""
    ufunc: str = ""
    """The name in NumPy's warnings: ``overflow encountered in <ufunc>``."""

    may_raise: bool = False
    writes: tuple[int, ...] = ()
    static_type: bool = True
    static_shape: bool = True

    matlab: str | None = None
    flops: float = 1.0
    domain: tuple[float, float] = (-1e3, 1e3)
    """Where random operands of tests and benchmarks lie."""
    ulp: Mapping[str, float] = field(default_factory=dict)
    """Greatest error of an *ours* row, in units in the last place, a dtype."""


class RowError(AssertionError):
    """A row of the table contradicts itself."""


def check(op: Op) -> None:
    """Refuse a row that says too little or contradicts itself.

    Raises:
        RowError: with the row's name and what is wrong.

    """
    wrong = [
        sentence
        for condition, sentence in (
            (not op.doc.endswith("."), "the doc is a sentence"),
            (op.kind == "elementwise" and op.expand is None, "an elementwise row expands"),
            (op.kind == "elementwise" and len(op.absorbs) != op.arity, "absorbs, one an operand"),
            (op.kind == "reduce" and op.reduction is None, "a reduction says how it combines"),
            (op.exactness == "ours" and not op.ulp and op.kind == "elementwise", "ulp is missing"),
            (bool(op.events) and not op.ufunc, "events need the name NumPy's warnings use"),
            (bool(op.spellings or op.methods) and op.bind is None, "calls need a reader"),
            (bool(op.spellings or op.methods) and op.result is None, "calls need a result rule"),
        )
        if condition
    ]
    if wrong:
        raise RowError(f"row {op.name!r}: {'; '.join(wrong)}")
