"""The kernel IR: nested blocks of SSA values, each uniform or per lane.

A kernel says what is independent, never how wide a vector is or how many threads run: a CPU
backend runs ``lanes`` in vectors and ``grid`` cells in chunks of a thread pool, a GPU backend
spreads both over threads. One top-level ``grid`` or ``lanes`` block is a kernel's parallel axis.

Structured instructions (``Instruction.blocks``):

==========  ========================  ==============================================================
op          args                      meaning
==========  ========================  ==============================================================
grid        n                         independent cells, ``block.index`` counts them; top level only
lanes       lo, hi                    independent iterations, one a lane
total       lo, hi                    a reduction of one fixed shape; ``combines`` names an op a
                                      carried value; results are uniform; at most ``16 * 16 *
                                      total_lanes`` iterations
loop        lo, hi, step, *inits      sequential, values carried in registers
while       *inits                    sequential: runs once, and again while the first of the
                                      values it yields (an i1) is set; the others are carried
if          condition, *inits         uniform branch; not taken: the inits
if_any      mask, *inits              a rare path: skipped where no lane's mask is set; lanes whose
                                      mask is not set keep the inits
contract    rows, columns, terms, and the elements of a product of two matrices; alone in its cell,
            of each matrix: where it  for shaders
            begins, steps of its axes
==========  ========================  ==============================================================

The caller of a kernel runs parts of its parallel axis: cells ``[a, b)`` of the ``grid``, or
iterations ``[a, b)`` within the bounds of the top-level ``lanes``.

A block's index in ``lanes`` and ``total`` belongs to the first of the lanes that run together, and
how many do is the backend's choice. So it may only enter addresses (the index of a ``load`` or
``store``, where it is multiplied by the access's own stride) and sums with ``lane_id``, never
bounds, conditions or a uniform load. A lane is **live** while its iteration is within bounds and
the masks of all ``if_any`` around are set; only live lanes read, write and note. Others compute
what nobody sees, from zeros where they would have loaded.

``total``: let L be 64, or 32 where one of the combined types has 8 bytes. Iteration ``i - lo``
belongs to lane ``(i - lo) % L`` and to block ``(i - lo) // 16L``. Each lane of a block adds at
most 16 steps in order, starting from the identity (``-0.0`` for ``add``); the lanes of at most 16
blocks are added in order, again from the identity; then lanes are halved (``j`` with ``j + L/2``).
With the attr ``lanes`` of 1 L is 1: the order of columns.
The shape depends on extents only, so the bits do too. ``min`` and ``max`` take their second operand
where both are equal, and the first NaN otherwise.

``contract``: its block runs once for each row, with lanes over columns that the index counts. It is
given the number of the row and the sums of its lanes, each a chain of fused multiplications and
additions in the order of the terms, from zero. ``left`` and ``right`` (attrs) are the buffers of
the matrices, rows by terms and terms by columns. Many threads compute a cell, in which nothing else
has an effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from runmat_jit.core.frozen import frozen, frozen_object

if TYPE_CHECKING:
    from runmat_jit.kernel.build import Builder

Literal = float | int | bool


@frozen_object
class Value:
    """One SSA value: a constant where ``literal`` is set, else a result, parameter or block index.

    Values of one builder support ``+ - * / < <= > >= & | ^ << >>`` and negation.
    """

    number: int
    type: str
    lane: bool
    builder: Builder = field(repr=False)
    literal: Literal | None = None

    def __add__(self, other: Value | Literal) -> Value:
        return self.builder.binary("add", self, other)

    def __radd__(self, other: Literal) -> Value:
        return self.builder.binary("add", other, self)

    def __sub__(self, other: Value | Literal) -> Value:
        return self.builder.binary("sub", self, other)

    def __rsub__(self, other: Literal) -> Value:
        return self.builder.binary("sub", other, self)

    def __mul__(self, other: Value | Literal) -> Value:
        return self.builder.binary("mul", self, other)

    def __rmul__(self, other: Literal) -> Value:
        return self.builder.binary("mul", other, self)

    def __truediv__(self, other: Value | Literal) -> Value:
        return self.builder.binary("div", self, other)

    def __rtruediv__(self, other: Literal) -> Value:
        return self.builder.binary("div", other, self)

    def __and__(self, other: Value | Literal) -> Value:
        return self.builder.binary("and", self, other)

    def __or__(self, other: Value | Literal) -> Value:
        return self.builder.binary("or", self, other)

    def __xor__(self, other: Value | Literal) -> Value:
        return self.builder.binary("xor", self, other)

    def __lshift__(self, other: Value | Literal) -> Value:
        return self.builder.binary("shl", self, other)

    def __rshift__(self, other: Value | Literal) -> Value:
        return self.builder.binary("ashr", self, other)

    def __lt__(self, other: Value | Literal) -> Value:
        return self.builder.binary("lt", self, other)

    def __le__(self, other: Value | Literal) -> Value:
        return self.builder.binary("le", self, other)

    def __gt__(self, other: Value | Literal) -> Value:
        return self.builder.binary("gt", self, other)

    def __ge__(self, other: Value | Literal) -> Value:
        return self.builder.binary("ge", self, other)

    def __neg__(self) -> Value:
        return self.builder.prim("neg", self)


@frozen
class Pair:
    """The parts of a complex number, which lie beside each other in memory."""

    re: Value
    im: Value


@frozen
class Buffer:
    """A parameter that points at elements.

    ``element`` is f32, f64, i32, i64, bool, or one of :data:`.primitives.NARROW`.
    """

    name: str
    element: str
    written: bool = False


@frozen
class Scalar:
    """A uniform parameter; ``multiple_of`` is a fact some backends use (an extent or stride)."""

    name: str
    type: str
    multiple_of: int = 1


@frozen
class Table:
    """A read-only constant array of a mathematical expansion, passed by pointer."""

    name: str
    element: str


Parameter = Buffer | Scalar | Table


@frozen_object
class Block:
    """The body of a structured instruction."""

    index: Value | None
    carried: tuple[Value, ...]
    body: tuple[Instruction, ...]
    yields: tuple[Value, ...]


@frozen_object
class Instruction:
    """One step: ``op`` is a primitive's name, a memory or a structured operation.

    Memory: ``load`` (attrs ``buffer``, ``stride``; args: index, and the stride where it is a run
    time value), ``store`` (likewise; args: index, value, stride?), ``gather`` (attr ``buffer``;
    args: an index per lane, or a uniform one for one element). ``stride`` is 0 (one uniform
    element), 1, -1 or "value". A store with a stride of ``n`` may have ``n`` values, which lie side
    by side (args: index, values, stride).

    For shaders alone: ``builtin`` (attr ``function``) calls a function of the adapter, ``below``
    and ``beyond`` (args: a float, a positive limit) tell whether its magnitude is below the limit,
    and whether it is not; both are open for NaN. A ``load`` of stride 1 with the attr ``window`` is
    assembled from two aligned vectors; if the attr is "open", lanes may lie outside of the buffer
    and then load any of its elements.

    Others: ``select``; ``note`` (arg: a float or an i1; attr ``bit``, of 32, the lowest unless
    given) sets a bit of the kernel's event word where the float is not finite or the i1 is set;
    ``lane_id`` counts the lanes from the block's index;
    ``libm`` (attr ``function``) is the C library's function of uniform float64;
    ``keep`` (arg: a uniform float) computes a value that nobody may need, for the machine's flags;
    ``ask`` (arg: the address of a function, an i64) calls ``i64 f(void)``: whether the
    caller of the kernel wants it to end;
    ``invoke`` (args: an address, and uniform numbers of 64 bits) calls a C function that works on
    memory alone, such as one of NumPy's inner loops; it may have a result;
    ``multiply`` (attrs ``left``, ``right`` and ``product``, buffers; args: the address of NumPy's
    inner loop of products; how many matrices there are, their rows, terms and columns; the steps in
    elements from matrix to matrix of each buffer, then of rows and terms of the left ones, of terms
    and columns of the right ones, of rows and columns of the products) gives whether the machine
    has seen a floating-point event meanwhile, an i1;
    ``leave`` (arg: a uniform i1) ends the cell of a ``grid`` where the i1 is set, and what the cell
    has noted is forgotten;
    ``splat`` gives every lane one value; ``unknown`` gives its constant, in shaders in a form that
    the adapter's compiler does not know; ``call`` (attr ``function``) runs a cold function, on
    uniform operands with uniform results.
    """

    op: str
    args: tuple[Value, ...]
    results: tuple[Value, ...] = ()
    attrs: Mapping[str, object] = field(default_factory=dict)
    block: Block | None = None


@frozen_object
class Function:
    """A rare path kept out of line: per-lane parameters in, per-lane results out."""

    name: str
    parameters: tuple[Value, ...]
    tables: tuple[Table, ...]
    body: tuple[Instruction, ...]
    results: tuple[Value, ...]


@frozen_object
class Kernel:
    """Parameters in the order of the argument block, then a body with one parallel block."""

    parameters: tuple[Parameter, ...]
    arguments: Mapping[str, Value]
    functions: tuple[Function, ...]
    body: tuple[Instruction, ...]
