"""What a loop is emitted with: one value, over which the modules of this package are functions.

Names are values, not places: what is known of them is data here (:mod:`.values`), which
:mod:`.ways` joins where ways meet and :mod:`.nests` settles for loops. Loops of MATLAB programs are
brought into the same form (:mod:`.source`), and know nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any

import numpy as np

from runmat_jit.core.frozen import frozen_object
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Instruction, Value
from runmat_jit.loops.arithmetic import Arithmetic
from runmat_jit.loops.extents import Dim, Extents
from runmat_jit.loops.layouts import Growing, LastItem
from runmat_jit.loops.memory import Memory
from runmat_jit.loops.source import Chain, Helper
from runmat_jit.loops.streams import Streams
from runmat_jit.loops.values import Array, Item, Line
from runmat_jit.loops.whole_arrays import arrays_in

LIVE, BROKEN = "%live", "%broken"
"""True if the iteration of a loop still goes on, and whether the loop does not."""
DOUBT = "%doubt"
"""True if something has happened that Python has to do: then nothing computed here will count."""

Known = dict[str, Item]
"""What is known of names."""


@slotted
class Around:
    """A loop whose iteration is emitted.

    ``waits``: it is a ``while``. ``accesses``: the indices that move along lines in it, each with
    its extent, by what identifies them; ``safe``: whether all of them stay within their extents in
    all iterations; None: nobody knows.
    """

    number: int
    waits: bool
    accesses: dict[Any, tuple[Line, Value]] = field(default_factory=dict)
    safe: Value | None = None


@frozen_object
class Iteration:
    """An iteration of the outermost loop, by its ``number``.

    ``first``: the number of the first iteration of this run of the kernel; ``count``: how many
    iterations the loop has in all.
    """

    number: Value
    first: Value
    count: Value


@slotted
class Emitter:
    """A kernel that is being emitted, and what is known where the next instruction goes.

    ``value_of`` and ``run_statements`` emit any expression, and any statements: what all modules
    call, and only the last ones know.
    """

    value_of: Callable[[Emitter, ast.expr], Item]
    run_statements: Callable[[Emitter, Sequence[ast.stmt]], None]
    k: Builder
    arithmetic: Arithmetic
    extents: Extents
    memory: Memory
    caller: Value
    """The address of who tells, in long loops within an iteration, that the kernel is to end."""
    exact: bool
    """True if each operation on arrays looks for its own events; else results tell that there may
    have been some."""
    has_long_rows: bool
    """True if a row may have more elements than one ``total``: then it is taken in cells."""

    # -- names -------------------------------------------------------------------------------------
    chains: Mapping[Chain, Item]
    """Values from outside."""
    given: Mapping[Chain, Item]
    """All operands, by their chains."""
    told: frozenset[str]
    """Names that are read after the loop: it is followed under another name (:func:`tag`) whether
    the number is one of NumPy's."""
    names: Known = field(default_factory=dict)
    """What is known here."""
    numpys: dict[int, Item] = field(default_factory=dict)
    """True if numbers are NumPy's, by the numbers of their values, where the kernel decides it."""
    hidden: frozenset[str] = frozenset()
    """What every loop carries, and every function is given, beside the names: where streams of
    random numbers are."""
    has_complex: bool = False
    """True if names may hold complex numbers."""

    # -- loops, and functions of the program's -----------------------------------------------------
    around: list[Around] = field(default_factory=list)
    """The loops whose iterations are emitted, the innermost one last."""
    analyzing: bool = False
    """True while no code is kept: loops are analyzed then, and not written."""
    heads: dict[tuple[Any, int], Known] = field(default_factory=dict)
    """Fixed points at the heads of loops, by their statements and the iterations before them."""
    unrolled: int = 1
    """How often the statement that is emitted is written, for turns that are written one by one."""
    helpers: Mapping[Any, Helper] = field(default_factory=dict)
    """Functions of the program's that may be called."""
    calling: list[Any] = field(default_factory=list)
    """Those that are being called."""
    frames: list[Known] = field(default_factory=list)
    """The names of those that call the function whose body is emitted."""
    begun: Value | None = None
    """The iterations before this slice of the loop, where what it iterates is emitted."""
    computed_first: list[Instruction] = field(default_factory=list)
    """Of that: what is computed before the first slice alone."""

    # -- arrays ------------------------------------------------------------------------------------
    written: set[int] = field(default_factory=set)
    """The operands that are stored to."""
    stores: int = 0
    """Stores so far: an expression that is older than the last one may no longer be computed."""
    fixed: dict[int, bool] = field(default_factory=dict)
    """Numbers of extents along which elements are told apart, and whether only reductions do that:
    what is done along the others is the same for each element, and asks for none of its neighbors.
    """
    strided: set[tuple[int, int]] = field(default_factory=set)
    """Operands of which elements with gaps between them are taken side by side, and the numbers of
    the extents along which they are."""
    spans: set[tuple[Dim, ...]] = field(default_factory=set)
    """Extents of what is stored at once, where they are known before the loop."""
    mask: Any = None
    """The mask of the elements that are computed, if they are chosen by one."""
    asks_numpy: bool = False
    """True if something was emitted that no kernel of recorded operations does."""
    streams: Streams | None = None
    """Where arrays are in registers: the code of lanes, beside that of numbers."""

    open_names: frozenset[str] = frozenset()
    """Names that may hold arrays whose first extent changes (:mod:`.open_extents`)."""
    open_axes: dict[int, int] = field(default_factory=dict)
    """Numbers of their extents, by the numbers of the values that are these."""

    # -- products and draws ------------------------------------------------------------------------
    calls: Buffer | None = None
    """What inner loops of NumPy's are given."""
    products: int = 0
    """Number of them that are called."""
    blocks: Mapping[ast.expr, Any] = field(default_factory=dict)
    """Products that are computed in blocks of rows (:mod:`.row_products`)."""
    counted: Iteration | None = None
    """The iteration of the outermost loop that is emitted, of a ``for``."""
    addresses: dict[str, Value] = field(default_factory=dict)
    """Addresses of arrays, and of what inner loops are given, by parameters."""
    ordered: bool = False
    """True if numbers are drawn by NumPy's generators, one after the other."""
    drawn_arrays: set[tuple[Dim, ...]] = field(default_factory=set)
    """Extents of the arrays that are drawn so."""
    drawn: int = 0
    """Elements of a draw that have a block in common, at most."""
    wholes: dict[int, tuple[Value, Value]] = field(default_factory=dict)
    """Of extents, by their numbers: the first lane of a tile, and how many there are in all."""

    # -- lists -------------------------------------------------------------------------------------
    lists: Mapping[int, Growing] = field(default_factory=dict)
    counts: Buffer | None = None
    """Number of items each list has."""
    shared: dict[int, tuple[Array, LastItem | None]] = field(default_factory=dict)
    """Arrays that names hold, and lists, too, by where they lie; None: it is not in each turn."""
    changed: set[tuple[np.dtype, tuple[Dim, ...]]] = field(default_factory=set)
    """Of what dtype and shape arrays are that a list may hold, and that are stored to."""
    turn_place: int = -1
    """Where an iteration of the loop is emitted, outside of all decisions."""

    def fix(self, *numbers: int, reduces: bool = False) -> None:
        """Along extents of these numbers elements are told apart: by reductions, or another way."""
        for number in numbers:
            self.fixed[number] = reduces and self.fixed.get(number, True)

    def item(self, node: ast.expr) -> Item:
        """The value of an expression."""
        return self.value_of(self, node)

    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Emit statements."""
        self.run_statements(self, statements)

    @contextmanager
    def masked(self, mask: Any) -> Iterator[None]:
        """Within the block, elements are computed that a mask chooses."""
        around, self.mask = self.mask, mask
        try:
            yield
        finally:
            self.mask = around

    @contextmanager
    def aside(self) -> Iterator[list[Instruction]]:
        """Emit into a list of its own."""
        stack = self.k.open_body()
        try:
            yield stack
        finally:
            self.k.close_body(stack)

    @contextmanager
    def analysis(self) -> Iterator[None]:
        """Within the block, no code is kept."""
        before = self.analyzing, self.products
        self.analyzing = True
        try:
            yield
        finally:
            self.analyzing, self.products = before

    def resume(self, instructions: list[Instruction]) -> None:
        """Put what was emitted aside in its place."""
        self.k.extend(instructions)

    def held_arrays(self) -> list[Array]:
        """The arrays that names hold."""
        names = (self.names, *self.frames)
        return [x for known in names for item in known.values() for x in arrays_in(item)]


def extent_of(name: str) -> str:
    """Return the name under which the first extent of an array is followed."""
    return f"{name}.extent"


def tag(name: str) -> str:
    """Under which it is followed whether a number is one of NumPy's."""
    return f"{name}?"
