"""A loop statement as a kernel: one cell that runs some iterations, from a state to the next.

The state holds what the loop carries from turn to turn, so that a long loop is run in slices. A
kernel that leaves its cell before the end says so by the status that it does not write.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.types import KERNEL_ELEMENTS, is_complex
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Buffer, Instruction, Kernel, Value
from runmat_jit.kernel.walk import every_instruction
from runmat_jit.loops import (
    binding,
    control_flow,
    expressions,
    indexing,
    iteration,
    lists,
    nests,
    open_extents,
    row_products,
    statements,
)
from runmat_jit.loops.arithmetic import Arithmetic
from runmat_jit.loops.complex_numbers import number as real_number
from runmat_jit.loops.complex_numbers import part_kind
from runmat_jit.loops.drawing import BITS
from runmat_jit.loops.draws import COUNTER
from runmat_jit.loops.elements import bounds_of
from runmat_jit.loops.emitter import BROKEN, DOUBT, Emitter, Iteration, Known, extent_of, tag
from runmat_jit.loops.extents import ONE, SINGLE, Dim, Extents, Places, shape_of
from runmat_jit.loops.forms import ArrayForm, Forms, GeneratorForm, ListForm, NumberForm, ObjectForm
from runmat_jit.loops.iteration import Turns
from runmat_jit.loops.lanes import Lanes, find_lanes, lane_axis
from runmat_jit.loops.layouts import LastItem, Layout, ListLayout, UnknownItems
from runmat_jit.loops.memory import Memory, Pool, Pools
from runmat_jit.loops.nests import Carried, Repeated, breaks
from runmat_jit.loops.open_extents import open_names
from runmat_jit.loops.returns import EXIT
from runmat_jit.loops.source import Chain, Helper, LoopSource, rebound_by
from runmat_jit.loops.streams import carried_value, stored_word
from runmat_jit.loops.values import (
    FLOAT,
    FLOAT64,
    INT,
    INT64,
    NEVER,
    TYPES,
    UNBOUND,
    Array,
    Axis,
    Complex,
    ComplexName,
    Grown,
    Item,
    Kind,
    NumpyStream,
    Scalar,
    Stream,
    Unbound,
    Unknown,
    constant,
    is_narrow_dtype,
    literal,
    numpy_kind,
    parts_of,
    scalar,
)
from runmat_jit.loops.whole_arrays import known_dims

LEFT, DONE, MORE = 0, 1, 2
"""Status of a kernel's run: it left and wrote what nobody reads; the loop has ended; it goes on."""
STATUS, TURNS, SLOTS = 0, 1, 2
"""Places in the state: the status, the iterations so far, and the first value that is carried."""
_SEVERAL: Final = "it is of several classes"
_ROUNDS = 4
"""Times that a kernel is made of what the one before was found to append to lists."""


@frozen_object
class Analysis:
    """Findings of the pass that precedes code generation: how to write a loop, and its effects.

    Attributes:
        peel: The first iteration is to be written apart.
        copies: Names that the loop binds hold copies of arrays from before it, in its memory.
        guess: The kind of items of lists that are read before any is appended.
        written: The operands that are stored to.
        pools: The arrays that are made.
        lists: What is appended to lists, by operands.
        ours: Something is done by code of our own, of whose events no flags tell.
        heads: Fixed points at the heads of loops, by their statements.

    """

    peel: bool = False
    copies: bool = False
    guess: Kind | None = None
    written: frozenset[int] | None = None
    pools: Pools = field(default_factory=dict)
    lists: Mapping[int, tuple[Layout, ...]] | None = None
    ours: bool = False
    heads: Mapping[Any, Known] = field(default_factory=dict)


@frozen
class Same:
    """A result that is an operand itself, the one of this number."""

    operand: int


@frozen
class ComplexResult:
    """A result that is a complex number of a kind."""

    kind: Kind


@frozen
class FirstRows:
    """A result that is the first rows of an array of the loop's own."""

    pool: Pool


Result = tuple[Kind, ...] | ComplexResult | Pool | FirstRows | Same | LastItem
"""What a name is after a loop: a number of these kinds, an array of the loop's or in a list of the
program's, or an operand.
"""


@frozen
class Emitted:
    """A kernel of a loop, and what it is given.

    Attributes:
        kernel: Its parameters are named after what they hold; see :func:`emit`.
        carried: The names in the state, and their value types.
        results: What the names are that are read after the loop. Of two kinds, the second one
            is NumPy's, and the state tells which it is under :func:`.emitter.tag`.
        written: Operands that it stores to.
        ours: Something is done by code of our own: no flags of the machine's tell of its events.
        rounds: Some bits are our own, not NumPy's.
        begins: Turns after which names are of the kinds of ``results``.
        pools: The arrays that it makes: how many of each shape there are at once.
        places: Where the extents of those are found among the operands.
        spans: Extents of the arrays that it stores at once.
        products: Calls of NumPy's inner loops.
        lanes: Axes along which it may run in tiles.
        asks_numpy: An iteration does what no kernel of recorded operations does.
        reduces: Only reductions tell elements apart.
        lists: What it appends to lists.
        drawn: Elements of a draw of random numbers that have a block in common, at most.
        drawn_arrays: Extents of arrays that NumPy's generators draw.
        numbers: Of each table of numbers that lanes are told, how many there are in an iteration.
        width: Elements that a lane has, where arrays are in registers; else 0.
        nest: For each loop, by its line, the names that it carries and their kinds.

    """

    kernel: Kernel
    carried: tuple[tuple[str, str], ...]
    results: tuple[tuple[str, Result], ...]
    written: frozenset[int]
    ours: bool
    rounds: bool
    begins: int
    pools: Pools
    places: Places
    spans: frozenset[tuple[Dim, ...]]
    products: int
    lanes: tuple[Lanes, ...]
    asks_numpy: bool
    reduces: bool
    lists: tuple[ListLayout, ...]
    drawn: int
    drawn_arrays: frozenset[tuple[Dim, ...]]
    numbers: Mapping[str, int] = field(default_factory=dict)
    width: int = 0
    nest: tuple[tuple[int, tuple[str, ...]], ...] = ()

    def mixed(self, given: Sequence[Any]) -> int:
        """Elements that depend on one another in a turn, along the axes that are no lanes'."""
        most = 1
        for dims in self.spans:
            lanes = {lane_axis(dims, each.number) for each in self.lanes}
            extents = enumerate(shape_of(dims, self.places, given))
            most = max(most, math.prod(extent for axis, extent in extents if axis not in lanes))
        return most

    def span(self, given: Sequence[Any]) -> int:
        """Elements of the largest array that it stores at once; numbers and shapes are given."""
        return self._largest(self.spans, given)

    def knows(self, given: Sequence[Any]) -> bool:
        """True if all numbers are given that extents are made of."""
        places = [place for (source, _), place in self.places.items() if source == "number"]
        return all(isinstance(given[operand], int | np.integer) for operand, _ in places)

    def drawn_span(self, given: Sequence[Any]) -> int:
        """The same of the arrays that NumPy's generators draw, one number after the other."""
        return self._largest(self.drawn_arrays, given)

    def _largest(self, spans: frozenset[tuple[Dim, ...]], given: Sequence[Any]) -> int:
        return max([math.prod(shape_of(dims, self.places, given)) for dims in spans], default=0)


def emit(
    source: LoopSource,
    forms: Forms,
    helpers: Mapping[Any, Helper],
    *,
    careful: bool | None = False,
    exact: bool = False,
) -> Emitted:
    """The kernel of a loop, for operands of these forms.

    The loop is analyzed first, for which nothing of it is written; then it is written once.

    ``careful`` as of :class:`.arithmetic.Arithmetic`; None: where some bits are our own, whose
    events no flags of the machine's tell. ``exact`` as of :class:`.emitter.Emitter`.

    Its parameters: ``state`` and ``floats``, the integers and the floats that are carried;
    ``limit``, the turns that it may run; ``caller``, the address of who is asked whether to go on;
    ``a3``, ``n3_0``, ``s3_0``: the array that is operand 3, extent and stride of its axis 0;
    ``x4``: the number that is operand 4; those of lists as of :class:`.lists.Lists`.

    Raises:
        Unknown: something in it does not run natively.

    """
    make = partial(Emission, source, forms, helpers, exact=exact)
    try:
        return _emitted(make, None, careful=careful)
    except UnknownItems as unknown:
        for guess in (INT, FLOAT, numpy_kind(FLOAT64)):
            with suppress(Unknown):
                return _emitted(make, guess, careful=careful)
        raise unknown from None


def _emitted(make: Callable[..., Emission], guess: Kind | None, *, careful: bool | None) -> Emitted:
    """Analyze a loop, then emit its kernel.

    Raises:
        Unknown: there is none.

    """
    found = analyzed(partial(make, careful=bool(careful)), guess)
    if careful is None and found.ours:
        for head in found.heads.values():
            head.pop(DOUBT, None)  # it is asked at once
    careful = found.ours if careful is None else careful
    for _ in range(_ROUNDS):
        emitted = make(careful=careful, found=found).emit()
        lists = {each.operand: each.layouts for each in emitted.lists}
        if lists == found.lists:
            return replace(emitted, nest=nest_of(found))
        found = replace(found, lists=lists, written=emitted.written, pools=emitted.pools)
    raise Unknown("what is appended to a list changes from turn to turn")


def nest_of(found: Analysis) -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return the names that each loop of a nest carries, by the lines of the loops."""
    carried = {
        node.lineno: tuple(
            f"{name}: {' or '.join(sorted(map(str, item.kinds)))}"
            for name, item in sorted(head.items())
            if isinstance(item, Scalar) and name.isidentifier()
        )
        for (node, _), head in found.heads.items()
    }
    return tuple(sorted(carried.items()))


def analyzed(make: Callable[..., Emission], guess: Kind | None = None) -> Analysis:
    """Analyze a loop: the first of several strategies to write it that fits.

    Raises:
        Unknown: none does.

    """
    refused: Callable[[], Unknown] | None = None
    final, may_copy = set[bool](), True
    for copies, peel in ((False, False), (True, False), (False, True), (True, True)):
        if (peel and copies in final) or (copies and not may_copy):
            continue
        emission = make(found=Analysis(peel, copies, guess))
        may_copy = emission.may_copy
        try:
            return emission.analyze()
        except Unknown as unknown:  # names may be of other classes in the first iteration
            if refused is None or (copies and not peel):  # made anew: a frame that holds what it
                refused = partial(type(unknown), unknown.why, unknown.line)  # raises is a cycle
            if unknown.final:
                final.add(copies)
    assert refused is not None, "none fits"
    raise refused()


@frozen_object
class Reached:
    """Where a loop is: the iterations so far, whether it is over, and what it carries."""

    turns: Value
    over: Value
    values: Sequence[Value]


class Emission:
    """Analyzes a loop, or emits its kernel; ``found``: the findings so far."""

    def __init__(
        self,
        source: LoopSource,
        forms: Forms,
        helpers: Mapping[Any, Helper],
        *,
        careful: bool,
        exact: bool,
        found: Analysis,
    ) -> None:
        self.source, self.node, self.found, self.forms = source, source.node, found, forms
        k = self.k = Builder()
        self.state = k.buffer("state", "i64", written=True)
        self.floats = k.buffer("floats", "f64", written=True)
        self.limit, caller = k.scalar("limit", "i64"), k.scalar("caller", "i64")
        extents = Extents(k)
        chains = _operands(k, forms, found.written, extents)
        entry: Known = {name: chains.get(Chain(name), UNBOUND) for name in source.assigned}
        if source.returns:
            unread = (name for name in source.returned if entry[name] == UNBOUND)
            entry |= {EXIT: literal(k, 0), **dict.fromkeys(unread, NEVER)}
        outside = {c: item for c, item in chains.items() if c.name not in source.assigned}
        told = source.assigned if source.grown else frozenset(source.results)
        memory = Memory(k, extents, found.pools)
        memory.declare()
        e = self.e = Emitter(
            expressions.value_of,
            statements.run,
            k,
            Arithmetic(k, careful),
            extents,
            memory,
            caller,
            exact,
            any(isinstance(f, ArrayForm) and f.is_long for f in forms.values()),
            outside,
            chains,
            told,
            helpers=helpers,
            has_complex=mentions_complex(source, forms, helpers),
            heads=dict(found.heads),
            open_names=open_names(source.node),
        )
        lists.open_lists(e, [*forms.values()], found.lists, found.guess)
        e.names[DOUBT] = literal(k, number=False)
        self.begin_streams()
        if not careful:
            e.arithmetic.doubtful = partial(control_flow.doubt, e)
        held = (entry.get(name) for name in rebound_by(self.node))
        self.may_copy = any(isinstance(item, Array) and item.axes for item in held)
        """True if a name that the loop binds anew holds an array before it."""
        for name, item in entry.items():
            binding.bind(e, name, item)
        self.turns: Turns | None = None
        self.begun: Value | None = None
        """The number of the first iteration of a run of the kernel."""
        self.read_before: frozenset[str] = frozenset()
        """Buffers that are read to know what is iterated: each slice of the loop reads them."""
        self.copied: dict[str, Value] = {}
        """Where the copies lie that names hold before the first iteration."""
        self.originals: set[int] = set()
        """The operands that have been copied."""
        self.ends: list[Known] = []
        """Facts at the ends of iterations that were emitted."""

    def begin_streams(self) -> None:
        """Follow where streams of random numbers are."""
        e, k = self.e, self.k
        kinds = frozenset((numpy_kind(INT64),))
        streams = {x.operand for x in e.given.values() if isinstance(x, Stream)}
        for operand in sorted(streams):
            name = f"{COUNTER}{operand}"
            e.names[name] = Scalar(kinds, k.scalar(f"c{operand}", "i64"))
            e.hidden |= {name}

    def analyze(self) -> Analysis:
        """Run the analysis to its fixed points; no code is kept.

        Raises:
            Unknown: something in it does not run natively.

        """
        e = self.e
        with self.k.grid(1), e.aside(), e.analysis():
            carried = self.emit_cell()
        self.results_of(carried)
        layouts = {each.operand: each.layouts for each in lists.lists_as_they_are(e)}
        written, ours = frozenset(e.written), e.arithmetic.ours
        return replace(
            self.found,
            written=written,
            pools=dict(e.memory.used),
            lists=layouts,
            ours=ours,
            heads=e.heads,
        )

    def results_of(self, carried: Carried) -> tuple[tuple[str, Result], ...]:
        """Results of the loop: the names that are read after it.

        Raises:
            Unknown: one is of no known class, or a store would not be seen where it should be.

        """
        e = self.e
        if {f"a{operand}" for operand in e.written} & self.read_before:
            raise Unknown("what is iterated depends on elements that the loop stores")
        if e.written & self.originals:
            raise Unknown("a store into an array that another name is to have a copy of")
        lists.require_unchanged(e)
        found = [(name, self.result(name, carried.kinds)) for name in self.source.results]
        for name, result in found:
            if isinstance(result, str):
                raise Unknown(f"{name} after the loop: {result}")
        return tuple([(n, result) for n, result in found if not isinstance(result, str)])

    def emit(self) -> Emitted:
        """The kernel."""
        k, e = self.k, self.e
        with k.grid(1):
            with e.aside() as instructions:
                carried = self.emit_cell()
            k.extend(e.extents.entry)
            k.extend(instructions)
        results = self.results_of(carried)
        return Emitted(
            self.k.finish(),
            tuple(carried.kinds.items()),
            results,
            frozenset(self.e.written),
            self.e.arithmetic.ours,
            self.e.arithmetic.rounds,
            1 + self.found.peel + self.source.is_while,
            dict(e.memory.used),
            dict(e.extents.places),
            frozenset(e.spans),
            e.products,
            self.lanes(),
            e.asks_numpy,
            all(e.fixed.values()),
            lists.lists_as_they_are(e),
            e.drawn,
            frozenset(e.drawn_arrays),
            **self.of_registers(),
        )

    def of_registers(self) -> dict[str, Any]:
        """What only kernels have whose arrays are in registers."""
        return {}

    def lanes(self) -> tuple[Lanes, ...]:
        """Axes along which the loop may run in tiles."""
        e = self.e
        arrays = [form for form in self.forms.values() if isinstance(form, ArrayForm)]
        has_narrow = any(is_narrow_dtype(form.dtype) for form in arrays)
        if e.products or e.lists or e.has_complex or e.ordered or has_narrow or e.open_axes:
            return ()
        return find_lanes(self.forms, e.memory.used, frozenset(e.written), {*e.fixed}, e.strided)

    def result(self, name: str, kinds: Mapping[str, str]) -> Result | str:
        """Result of a name: what it is after the last iteration, or why it has none."""
        item = self.ends[-1].get(name, UNBOUND)
        if isinstance(item, ComplexName) and all(part in kinds for part in parts_of(name)):
            return ComplexResult(*item.kinds) if len(item.kinds) == 1 else _SEVERAL
        if not isinstance(item, Array):
            return _kinds(item, name, kinds)
        last = lists.last_item(self.e, item)
        if isinstance(last, str) or (last is not None and item.whole and not breaks(self.node)):
            return last
        if item.whole and name in kinds and last is None:
            if item.turned and len(item.axes) > 1:
                return "its order in memory is open"
            pool = Pool(item.dtype, item.pool)
            if item.open:
                return FirstRows(pool) if extent_of(name) in kinds else _SEVERAL
            return "it is a view" if item.viewed else pool
        if item.operand >= 0 and item in self.e.given.values():
            return Same(item.operand)
        return "it is a part of an array"

    def turn(self, number: Value) -> None:
        """Emit one iteration."""
        e, node = self.e, self.node
        if isinstance(node, ast.While):
            statements.turn_while(e, node, self.ends)
            return
        assert self.turns is not None, "it is counted"
        if self.begun is not None:
            e.counted = Iteration(number, self.begun, self.turns.count)
        e.turn_place = e.arithmetic.place
        expressions.assign(e, node.target, self.turns.item(number))
        e.run(node.body)
        self.ends.append(dict(e.names))

    def emit_cell(self) -> Carried:
        """The cell; what it carries."""
        k, e, node = self.k, self.e, self.node
        begun = k.load(self.state, TURNS, 0)
        if self.found.copies:
            self.copy(begun)
        loop = Repeated(node, self.turn)
        e.blocks = row_products.reserve(e, node, self.found.written)
        self.turns = self.iterated(node, begun) if isinstance(node, ast.For) else None
        self.begun = begun
        first: tuple[list[Instruction], Value] | None = None
        if self.found.peel:
            with e.aside() as instructions:
                over = nests.first_turn(e, loop)
            first = instructions, over.value
        after_first = dict(e.names)
        settled = nests.settle(e, loop)
        carried = nests.carried_by(e, node, settled)
        if e.analyzing:
            return carried
        last = begun + self.limit
        count = None if self.turns is None else self.turns.count
        if count is not None:
            last = k.select(count < last, count, last)
        starts = [self.load(slot, kind) for slot, kind in slots_of(carried)]
        for place, name in enumerate(carried.names):
            if name in self.copied:
                starts[place] = k.select(k.eq(begun, 0), self.copied[name], starts[place])
        reached = Reached(begun, k.const(False, "i1"), starts)
        if first is not None:
            at_first = (begun < last) & k.eq(begun, 0)
            block = k.if_(at_first, [begun, reached.over, *reached.values])
            with block:
                e.resume(first[0])
                pairs = carried.kinds.items()
                values = [
                    control_flow.start(e, after_first.get(name), kind) for name, kind in pairs
                ]
                block.yield_(1, first[1], *values)
            reached = Reached(block.out[0], block.out[1], block.out[2:])
        nests.secure(e, settled.inside, count)
        carried = replace(carried, starts=reached.values)
        going_on = (reached.turns < last) & k.prim("xor", reached.over, True)
        guard = k.if_(going_on, [reached.turns, reached.over, *reached.values])
        with guard:
            if count is not None and not breaks(node):
                bounds = k.convert("sext", reached.turns, "index"), k.convert("sext", last, "index")
                results, _ = nests.counted(e, loop, carried, bounds)
                guard.yield_(last, False, *results)
            else:
                guard.yield_(*self.uncounted(loop, carried, reached, last))
        self.finish(Reached(guard.out[0], guard.out[1], guard.out[2:]), carried, count)
        return carried

    def iterated(self, node: ast.For, begun: Value) -> Turns:
        """What the loop iterates; arrays for it are computed before its first slice."""
        e = self.e
        e.begun = begun
        with e.aside() as instructions:
            turns = iteration.turns(e, node.iter, grows=bool(self.source.grown))
            if turns.unrolled is not None:
                raise Unknown("a loop over a tuple")
        e.begun = None
        e.resume(instructions)
        once = set(map(id, e.computed_first))
        self.read_before = read_by([each for each in instructions if id(each) not in once])
        return turns

    def copy(self, begun: Value) -> None:
        """Have names that the loop binds anew hold copies of arrays from before it."""
        e, made = self.e, dict[int, Array]()
        for name in sorted(rebound_by(self.node)):
            item = e.names.get(name)
            if not (isinstance(item, Array) and item.axes):
                continue
            if item.operand not in made:
                array = e.memory.new(item.dtype, known_dims(item.axes), made.values())
                e.memory.copies.append(array)
                with self.k.if_(self.k.eq(begun, 0)) as first:
                    indexing.fill_new(e, array, item)
                    first.yield_()
                self.originals.add(item.operand)
                made[item.operand] = replace(array, copied=True, turned=item.turned)
            array = e.names[name] = made[item.operand]
            assert array.home is not None, "it is in memory of the loop's own"
            self.copied[name] = array.home
            if name in e.open_names:
                open_extents.opened(e, name, array)
                self.copied[extent_of(name)] = scalar(e.names[extent_of(name)]).value

    def uncounted(
        self,
        loop: Repeated,
        carried: Carried,
        reached: Reached,
        last: Value,
    ) -> Sequence[Value]:
        """A loop that may end early: the iterations, whether it is over, and what it carries."""
        k, e = self.k, self.e
        block = k.while_([reached.turns, reached.over, *carried.starts])
        with block:
            number, _, *values = block.carry
            end = nests.turn(e, loop, carried, values, number)
            over = e.arithmetic.truth(scalar(end[BROKEN]))
            following = number + 1
            again = k.prim("xor", over, True) & (following < last)
            block.yield_(again, following, over, *nests.yields(e, end, carried, values))
        return block.out

    def load(self, slot: tuple[str, int], kind: str) -> Value:
        """A value of the state, in the type in which it is carried."""
        where, place = slot
        loaded = self.k.load(self.state if where == "state" else self.floats, place, 0)
        return carried_value(self.k, loaded, kind)

    def finish(self, reached: Reached, carried: Carried, count: Value | None) -> None:
        """Put what is carried into the state, and say how far it has come."""
        k = self.k
        rows = zip(carried.names, slots_of(carried), reached.values, strict=True)
        for name, ((where, place), _), value in rows:
            if name == DOUBT:
                k.leave_if(value)
            k.store(
                self.state if where == "state" else self.floats, place, stored_word(k, value), 0
            )
        done = reached.over if count is None else reached.over | (count <= reached.turns)
        held = dict(zip(carried.names, reached.values, strict=True))
        for name in self.source.results:
            item = carried.settled.end.get(name)
            if isinstance(item, Array) and item.copied and name in held:
                for array in self.e.memory.copies:  # the result is the caller's array itself
                    assert array.home is not None, "it is in memory of the loop's own"
                    k.leave_if(done & k.eq(held[name], array.home))
        k.store(self.state, TURNS, reached.turns, 0)
        k.store(self.state, STATUS, k.select(done, k.const(DONE, "i64"), MORE), 0)


def read_by(instructions: Sequence[Instruction]) -> frozenset[str]:
    """The buffers that instructions read.

    Raises:
        Unknown: they do more than that.

    """
    found: set[str] = set()
    for instruction in every_instruction(instructions):
        if instruction.op in ("store", "invoke"):
            raise Unknown("what is iterated is computed")
        if instruction.op in ("load", "gather"):
            buffer = instruction.attrs["buffer"]
            assert isinstance(buffer, Buffer), "it is read from one"
            found.add(buffer.name)
    return frozenset(found)


def _kinds(item: Item, name: str, kinds: Mapping[str, str]) -> tuple[Kind, ...] | str:
    """The kinds of a number after the last iteration, or why they are not known."""
    if not isinstance(item, Scalar) or name not in kinds:
        return item.why if isinstance(item, Unbound) else "it is no number"
    found = sorted(item.kinds, key=lambda kind: not kind.python)
    told = len(found) == 1 or (
        [kind.python for kind in found] == [True, False] and tag(name) in kinds
    )
    fits = item.type == kinds[name] or (item.type == "i64" and kinds[name] == "f64")
    return tuple(found) if told and fits else _SEVERAL


def _operands(
    k: Builder, forms: Forms, written: frozenset[int] | None, extents: Extents
) -> dict[Chain, Item]:
    """Declare the parameters of operands; return what is known of these."""
    found: dict[Chain, Item] = {}
    arrays: dict[int, Array] = {}
    streams: dict[int, Stream | NumpyStream] = {}
    for number, (chain, form) in enumerate(forms.items()):
        if isinstance(form, ObjectForm):
            found[chain] = constant(k, form.value)
        elif isinstance(form, ListForm):
            found[chain] = Grown(form.number)
        elif isinstance(form, GeneratorForm):
            if form.number not in streams:
                streams[form.number] = stream_of(k, form)
            found[chain] = streams[form.number]
        elif isinstance(form, NumberForm) and is_complex(form.kind.dtype):
            kind = part_kind(form.kind)
            values = (k.scalar(f"{part}{number}", TYPES[kind.dtype]) for part in ("re", "im"))
            parts = (real_number(value, kind) for value in values)
            found[chain] = Complex(frozenset((form.kind,)), *parts)
        elif isinstance(form, NumberForm):
            value = k.scalar(f"x{number}", TYPES[form.kind.dtype])
            bounds = (-form.high, form.high - (form.high > 1 << 62))
            if form.kind.dtype.kind not in "iu" or form.high == 0:
                bounds = bounds_of(form.kind.dtype)
            kinds = frozenset((form.kind,))
            top = None if form.extent is None else (form.extent, 0)
            found[chain] = Scalar(kinds, value, *bounds, top, narrow=form.narrow)
        elif form.number in arrays:
            found[chain] = arrays[form.number]
        else:
            may_write = written is None or number in written
            buffer = k.buffer(f"a{number}", KERNEL_ELEMENTS[form.dtype], written=may_write)
            axes = []
            for axis in range(form.ndim):
                extent = k.scalar(f"n{number}_{axis}", "index")
                one = axis == form.unit
                stride = 1 if one else k.scalar(f"s{number}_{axis}", "index")
                own = form.extents[axis]
                extents.bases.setdefault(("extent", own), extent)
                extents.places.setdefault(("extent", own), (number, axis))
                dim = ONE if own == SINGLE else Dim("extent", own)
                axes.append(Axis(own, extent, stride, dim))
            arrays[number] = Array(
                number, buffer, form.dtype, None, tuple(axes), turned=not form.packed
            )
            found[chain] = arrays[number]
    return found


def stream_of(k: Builder, form: GeneratorForm) -> Stream | NumpyStream:
    """What draws take from a generator."""
    if form.numpys:
        return NumpyStream(k.scalar(f"{BITS}{form.number}", "i64"))
    return Stream(form.number, k.scalar(f"k{form.number}", "i64"))


def mentions_complex(source: LoopSource, forms: Forms, helpers: Mapping[Any, Helper]) -> bool:
    """True if names of a loop may hold complex numbers."""
    dtypes = [
        form.dtype if isinstance(form, ArrayForm) else form.kind.dtype
        for form in forms.values()
        if isinstance(form, ArrayForm | NumberForm)
    ]
    if any(map(is_complex, dtypes)):
        return True
    bodies = [[source.node], *(helper.source.body for helper in helpers.values())]
    nodes = (each for body in bodies for statement in body for each in ast.walk(statement))
    return any(
        (isinstance(each, ast.Constant) and isinstance(each.value, complex))
        or (isinstance(each, ast.Name) and each.id == "complex")
        or (isinstance(each, ast.Attribute) and each.attr.startswith("complex"))
        for each in nodes
    )


def slots_of(carried: Carried) -> list[tuple[tuple[str, int], str]]:
    """Slots of the state in which names are carried, with their value types."""
    return [
        (("floats" if kind in ("f32", "f64") else "state", SLOTS + place), kind)
        for place, kind in enumerate(carried.kinds.values())
    ]
