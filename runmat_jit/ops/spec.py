"""What a row of the op table says, and the checks that every row must pass.

A row is everything the compiler knows about an operation. Capture asks it how a call reads
(``bind``) and what comes out (``result``); lowering asks it for its kernel code; diagnostics ask
for its floating-point events; nothing else names an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import field
from typing import Any, Literal, Protocol

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.core.types import TensorType
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value
from runmat_jit.ops.sign import SignRule, TopRule

Event = Literal["divide", "overflow", "underflow", "invalid"]
Params = Mapping[str, Hashable]
Kind = Literal["elementwise", "reduce", "scan", "move", "create", "gather", "structure", "host"]
Exactness = Literal["bit-defined", "ours"]
Layout = Literal["C", "K"]
"""Memory order of a new result: C, or (K) as the operands lie, as NumPy's ``order`` says."""
ZeroD = Literal["scalar", "array", "same"]
"""A NumPy scalar, a 0-d array, or a scalar where all operands are scalars, else an array."""

VARIADIC = -1
"""The arity of rows that take any number of operands."""
ULP_LIMIT = 2.0
"""No expansion may be further from the exact value than this."""
GPU_ULP_LIMIT = 4.0
"""Nor any row on a GPU."""


@frozen
class Weak:
    """A Python bool, int, float or complex among operands: it adapts to the arrays' dtype."""

    type: type


Operand = TensorType | Weak
"""What a rule knows of an operand. NumPy scalars are 0-d tensors."""


@frozen
class Bound:
    """A call as the row reads it: operands in order, parameters by name (normalized, hashable)."""

    operands: tuple[Any, ...]
    params: dict[str, Hashable] = field(default_factory=dict)
    out: Any = None


@frozen
class Result:
    """What comes out: the type, and the dtype that each operand is cast to first."""

    type: TensorType
    operand_dtypes: tuple[np.dtype, ...]


@frozen
class Reduction:
    """How a reduction row lowers.

    ``combine`` is an operation of a kernel's ``total``; an empty reduction gives ``identity``
    (None: NumPy raises). ``bound`` is c of the error bound ``|r - exact| <= c u sum(|terms|)``
    for each level of a float sum, 0 where the result is exact. ``is_position``: what comes out is
    where the first such element is, not the element. ``is_moment``: terms are the squares of what
    the elements leave after a mean, the second operand.
    """

    combine: str
    identity: float | bool | None
    bound: float = 0.0
    is_position: bool = False
    is_moment: bool = False


class Make(Protocol):
    """Makes a value of a graph: row name, operands (each has a ``type``), parameters, type."""

    def __call__(
        self, name: str, args: tuple[Any, ...], params: Params, type_: TensorType, /
    ) -> Any: ...


class LibraryFunction(Protocol):
    """A callable of a library, found without loading that."""

    @property
    def name(self) -> str:
        """The library's own name for it, which is unique among rows."""

    def means(self, function: Any, /) -> bool:
        """True if a function is this one."""

    def ufunc(self) -> Callable[..., Any]:
        """The callable itself; this loads the library."""


@frozen
class Op:
    """One row. Fields that a kind does not use keep their defaults."""

    name: str
    doc: str
    kind: Kind
    arity: int
    numpy: Callable[..., Any]
    """NumPy's meaning: called with operand arrays and the parameters as keywords; rows of kind
    structure get the node's ``type`` as a further keyword."""

    spellings: tuple[Callable[..., Any], ...] = ()
    """Callables that mean this row: ufunc, functions, operators."""
    library: LibraryFunction | None = None
    """A callable that means this row and whose module may not have been loaded."""
    methods: tuple[str, ...] = ()
    """Array methods that mean this row; the array is the first argument of ``bind``."""
    bind: Callable[[tuple[Any, ...], Mapping[str, Any]], Bound | None] | None = None
    """Reads a call's arguments; None where the row does not cover those keywords."""
    bind_method: Callable[[tuple[Any, ...], Mapping[str, Any]], Bound | None] | None = None
    """Reads those of a method that takes other ones than the function; None: it does not."""
    result: Callable[[tuple[Operand, ...], Params], Result | None] | None = None
    """The dtype and shape rule; None where it is not complete. Raises nothing: a call that NumPy
    would refuse is not covered, so that NumPy raises its own error. Python numbers that do not
    fit the dtype they are cast to are refused by the caller (:func:`promotion.fits`)."""
    canonical: Callable[[Params, tuple[Operand, ...]], dict[str, Hashable]] | None = None
    """The parameters as graphs keep them, for a call that ``result`` covers; see
    :func:`canonical_params`."""
    layout: Layout = "K"
    """Memory order of a new result, unless a parameter ``order`` says otherwise."""
    allocates: Literal["ufunc", "iterator", "copy"] = "copy"
    """What gives a new elementwise result its strides, where its operands have any order of axes: a
    ufunc, NumPy's iterator, or what copies the first operand."""
    is_plain: bool = False
    """Calls are covered only of operands in C order: of others NumPy's result lies otherwise, or
    its elements are not where the row looks for them."""
    is_pattern: bool = False
    """The first operand gives its shape and dtype alone: its elements are not read."""
    numbers_are_data: bool = False
    """No number among the arguments is a shape or an axis; elementwise rows need not say so."""
    zero_d: ZeroD = "scalar"
    """What NumPy returns where the result is 0-d."""

    decompose: Callable[[Make, tuple[Any, ...], Params, TensorType], Any] | None = None
    """The same value by other rows, for rows without kernel code of their own: takes operands
    already cast to their operand dtypes, canonical parameters and the result's type."""
    expand: Callable[..., Value] | None = None
    """Elementwise kernel code: ``expand(builder, *values, **params) -> value``."""
    parts: Callable[..., Any] | None = None
    """A formula of :mod:`parts` for operands some of which are complex; None: it covers none such.
    Takes what :func:`parts.parts_of` makes of operands already cast, and canonical parameters."""
    reduction: Reduction | None = None
    scan: str | None = None
    """How a scan takes in one element more: an operation that a kernel's ``total`` knows, in
    NumPy's order."""

    exactness: Exactness = "bit-defined"
    complex_exactness: Exactness = "bit-defined"
    """The same for complex operands."""
    differs: str = ""
    """Where a bit-defined row has other bits than NumPy: an end of the sentence "but for ..."."""
    events: frozenset[Event] = frozenset()
    """Floating-point events that NumPy may report for it, on any covered dtype."""
    absorbs: tuple[bool, ...] = ()
    """For each operand: may the result be finite although the operand is not?"""
    event_test: Callable[[Builder, tuple[Value, ...], Value], Value | None] | None = None
    """An extra condition (i1) for events that leave a finite result, such as integer division by
    zero."""
    divisor: int | None = None
    """The operand whose zero makes an infinity a division by zero, where it may be an overflow."""
    strict: tuple[int, ...] = ()
    """Operands that may be infinite where NumPy reports an overflow all the same."""
    ufunc: str = ""
    """The name in NumPy's warnings: ``overflow encountered in <ufunc>``."""

    sign: SignRule | None = None
    """What is known of the sign of float results; None: nothing."""
    top: TopRule | None = None
    """What float results do not exceed; None: nothing is known."""

    matlab: str | None = None
    flops: float = 1.0
    domain: tuple[float, float] = (-1e3, 1e3)
    """Where random operands of tests and benchmarks lie."""
    ulp: Mapping[str, float] = field(default_factory=dict)
    """Greatest error of an *ours* row, in units in the last place, a dtype."""
    gpu_ulp: Mapping[str, float] = field(default_factory=dict)
    """The same on a GPU whose results need not be the CPU's; empty: they always are."""


class RowError(AssertionError):
    """A row of the table contradicts itself."""


def is_ours(op: Op, dtypes: Iterable[np.dtype]) -> bool:
    """True if results for operands of these dtypes have bits of our own."""
    complex_ = any(dtype.kind == "c" for dtype in dtypes)
    return (op.complex_exactness if complex_ else op.exactness) == "ours"


def canonical_params(op: Op, params: Params, operands: tuple[Operand, ...]) -> dict[str, Hashable]:
    """The parameters in the one form that graphs keep, such as axes that are not negative."""
    return dict(params) if op.canonical is None else op.canonical(params, operands)


def layout_of(op: Op, params: Params) -> Layout:
    """Memory order of a new result of this call."""
    return "C" if params.get("order", op.layout) == "C" else "K"


def check(op: Op) -> None:
    """Refuse a row that says too little or contradicts itself.

    Raises:
        RowError: with the row's name and what is wrong.

    """
    wrong = [sentence for condition, sentence in _faults(op) if condition]
    if wrong:
        raise RowError(f"row {op.name!r}: {'; '.join(wrong)}")


def _faults(op: Op) -> tuple[tuple[bool, str], ...]:
    called = bool(op.spellings or op.methods or op.library)
    elementwise = op.kind == "elementwise"
    own_code = op.expand is not None
    return (
        (not op.name.isidentifier(), "the name is an identifier"),
        (not op.doc.endswith("."), "the doc is a sentence"),
        (elementwise and not own_code and op.decompose is None, "an elementwise row expands"),
        (elementwise and own_code and len(op.absorbs) != op.arity, "absorbs, one an operand"),
        (not elementwise and own_code, "only elementwise rows expand"),
        (
            op.kind == "reduce" and op.reduction is None and op.decompose is None,
            "a reduction says how it combines",
        ),
        (
            op.kind == "scan" and op.scan is None and op.decompose is None,
            "a scan says how it combines",
        ),
        (op.kind == "create" and op.decompose is None, "a creation decomposes"),
        (own_code and op.exactness == "ours" and not op.ulp, "ulp is missing"),
        (op.exactness == "bit-defined" and bool(op.ulp), "a bit-defined row has no ulp"),
        (op.exactness == "ours" and bool(op.differs), "only a bit-defined row differs"),
        (any(u > ULP_LIMIT for u in op.ulp.values()), f"an ulp is above {ULP_LIMIT}"),
        (any(u > op.gpu_ulp.get(d, 0) for d, u in op.ulp.items()), "gpu_ulp is at least ulp"),
        (any(u > GPU_ULP_LIMIT for u in op.gpu_ulp.values()), f"above {GPU_ULP_LIMIT} on GPUs"),
        (bool(op.events) and not op.ufunc, "events need the name NumPy's warnings use"),
        (op.event_test is not None and not op.events, "an event test needs events"),
        (
            elementwise and {"divide", "overflow"} <= op.events and op.divisor is None,
            "of divisions and overflows, which operand divides",
        ),
        (called and op.bind is None, "calls need a reader"),
        (called and op.result is None, "calls need a result rule"),
        (op.domain[0] >= op.domain[1], "the domain is an interval"),
    )
