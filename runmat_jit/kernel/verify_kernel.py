"""What a valid kernel is.

Values are defined before they are used, once, and have the types that instructions ask for. One
``grid`` or ``lanes`` block at the top is the parallel axis and does all that has an effect. Lanes
exist inside of ``lanes`` and ``total`` only, and nothing but addresses and sums with ``lane_id``
depends on how many of them run together (:mod:`runmat_jit.kernel.ir`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel import polynomial_index as polynomial
from runmat_jit.kernel.ir import Block, Buffer, Function, Instruction, Kernel, Table, Value
from runmat_jit.kernel.primitives import (
    BUILTINS,
    COMBINES,
    FLOATS,
    LIBM,
    PRIMITIVES,
    VALUE_TYPES,
    Domain,
    accepts,
)
from runmat_jit.kernel.verify_types import check_primitive, memory_type, require
from runmat_jit.kernel.walk import note_bit, stored_values

_BLOCKS = ("grid", "lanes", "total", "contract", "loop", "while", "if", "if_any")
_INVOKED = frozenset(("i64", "f64", "f32"))
"""Types of what C functions take and give."""
_SEQUENTIAL = ("leave", "keep", "ask", "libm", "invoke", "multiply")
_CARRYING = ("loop", "while", "if", "if_any")


def verify_kernel(kernel: Kernel) -> None:
    """Check a kernel.

    Raises:
        KernelError: The kernel is not valid, with the sentence that says why.

    """
    names = [p.name for p in kernel.parameters]
    require(len(set(names)) == len(names), "two parameters have the same name")
    functions = {f.name: f for f in kernel.functions}
    for function in kernel.functions:
        _verify_function(function, kernel)
    parallel = [i for i in kernel.body if i.op in ("grid", "lanes")]
    require(len(parallel) == 1, "a kernel has one top-level grid or lanes block")
    require(kernel.body[-1] is parallel[0], "nothing follows the top-level grid or lanes block")
    verifier = _Verifier(kernel, functions)
    for value in kernel.arguments.values():
        verifier.define(value, lane=False)
    verifier.body(kernel.body, _Place())


def _verify_function(function: Function, kernel: Kernel) -> None:
    """A cold function is straight-line code on lanes that reads its own tables only."""
    for table in function.tables:
        require(table in kernel.parameters, f"table {table.name} is no parameter")
    for instruction in function.body:
        others = ("select", "gather", "splat", "builtin", "unknown", "below", "beyond")
        straight = instruction.op in PRIMITIVES or instruction.op in others
        require(straight, f"{instruction.op} cannot stand in function {function.name}")
        if instruction.op == "gather":
            own = instruction.attrs["buffer"] in function.tables
            require(own, f"function {function.name} reads a table that it does not list")
    verifier = _Verifier(kernel, {})
    for value in function.parameters:
        verifier.define(value, lane=True)
    verifier.body(function.body, _Place(in_lanes=True))
    for value in function.results:
        verifier.use(value)


@frozen
class _Place:
    """Where an instruction stands; ``index`` is the number of the lanes' index."""

    in_cell: bool = False
    in_lanes: bool = False
    index: int | None = None


@slotted
class _Verifier:
    kernel: Kernel
    functions: dict[str, Function]
    scope: set[int] = field(default_factory=set)
    ever: set[int] = field(default_factory=set)
    known: dict[int, polynomial.Polynomial] = field(default_factory=dict)
    grouped: set[int] = field(default_factory=set)
    """Uniform values that depend on how many lanes run together."""
    steps: dict[int, polynomial.Polynomial] = field(default_factory=dict)
    """By how much multiples of ``lane_id`` grow from lane to lane."""

    # -- values ----------------------------------------------------------------------------------
    def define(self, value: Value, *, lane: bool) -> None:
        require(value.number not in self.ever, f"%{value.number} is defined twice")
        require(value.literal is None, "a constant has no definition")
        require(value.type in VALUE_TYPES, f"{value.type} is no value type")
        wanted = "per lane" if lane else "uniform"
        require(value.lane == lane, f"the result of this instruction is {wanted}")
        self.scope.add(value.number)
        self.ever.add(value.number)

    def use(self, value: Value) -> None:
        if value.literal is None:
            require(value.number in self.scope, f"%{value.number} is used where it is not defined")

    def depends_on_grouping(self, value: Value) -> bool:
        return value.number in self.grouped

    def uniform(self, value: Value, kind: str, what: str) -> None:
        """Check an operand that decides control flow or memory: the same for all lanes."""
        require(value.type == kind, f"{what} is of type {kind}, not {value.type}")
        require(not value.lane, f"{what} is uniform")
        grouped = self.depends_on_grouping(value)
        require(not grouped, f"{what} depends on how many lanes run together")

    # -- instructions ----------------------------------------------------------------------------
    def body(self, body: Sequence[Instruction], place: _Place) -> None:
        for instruction in body:
            for value in instruction.args:
                self.use(value)
            if instruction.op in _BLOCKS:
                self.structured(instruction, place)
            else:
                self.straight(instruction, place)

    def straight(self, instruction: Instruction, place: _Place) -> None:
        op, args, results = instruction.op, instruction.args, instruction.results
        lane = any(a.lane for a in args)
        if op in PRIMITIVES or op == "select":
            check_primitive(instruction)
            self.follow_index(instruction, place)
        elif op in ("load", "store"):
            lane = self.access(instruction, place)
        elif op == "gather":
            buffer = self.buffer(instruction)
            require(results[0].type == memory_type(buffer), f"{buffer.name} holds another type")
            require(args[0].type in ("index", "i32", "i64"), "a gather's index is an integer")
            require(not self.depends_on_grouping(args[0]), "a uniform gather is at a fixed index")
        elif op == "note":
            require(args[0].type in ("f32", "f64", "i1"), "a note takes a float or an i1")
            require(note_bit(instruction) in range(32), "an event word has 32 bits")
            require(not self.depends_on_grouping(args[0]), "a note is of a value of all lanes")
        elif op == "call":
            self.call(instruction)
        elif op in _SEQUENTIAL:
            self.sequential(instruction, place)
        elif op == "builtin":
            known = instruction.attrs["function"] in BUILTINS
            require(known and args[0].type == results[0].type == "f32", "a builtin is of a float32")
        elif op in ("below", "beyond"):
            require(args[0].type == args[1].type, "a limit is of the type that it limits")
            require(results[0].type == "i1", f"{op} gives an i1")
        elif op == "unknown":
            require(args[0].literal is not None, "unknown is made of a constant")
        else:
            require(op in ("lane_id", "splat"), f"{op} is no instruction")
            require(op == "splat" or place.index is not None, "lane_id counts iterations of lanes")
            require(not any(map(self.depends_on_grouping, args)), "a splat is of one value")
            self.steps |= {r.number: polynomial.ONE for r in results if op == "lane_id"}
            lane = True
        for value in results:
            require(place.in_lanes or not lane, f"{op} has lanes outside of lanes and total")
            self.define(value, lane=lane)

    def sequential(self, instruction: Instruction, place: _Place) -> None:
        """Check what only loops over single numbers have."""
        op, args, results = instruction.op, instruction.args, instruction.results
        kinds = {"leave": "i1", "ask": "i64", "libm": "f64", "keep": args[0].type}
        for arg in args:
            self.uniform(arg, kinds.get(op, arg.type), f"an operand of {op}")
        require(not place.in_lanes, f"{op} stands outside of lanes")
        if op == "leave":
            require(place.in_cell, "a cell of a grid is left")
        elif op == "keep":
            require(args[0].type in FLOATS, "a float is kept")
        elif op == "invoke":
            require(args[0].type == "i64", "what is invoked is an address")
            types = {value.type for value in (*args, *results)}
            require(types <= _INVOKED and len(results) < 2, "a C function takes and gives numbers")
        elif op == "ask":
            require(results[0].type == "i1", "an answer is an i1")
        elif op == "multiply":
            self.multiply(instruction, place)
        else:
            operands = LIBM.get(str(instruction.attrs["function"]))
            require(operands == len(args), "libm calls a known function of so many operands")
            require(results[0].type == "f64", "libm gives a float64")

    def multiply(self, instruction: Instruction, place: _Place) -> None:
        """Check the matrices of a product that NumPy's inner loop computes."""
        buffers = [instruction.attrs[name] for name in ("left", "right", "product")]
        require(len({b.element for b in buffers if isinstance(b, Buffer)}) == 1, "of one type")
        for buffer in buffers:
            assert isinstance(buffer, Buffer), "a product names its buffers"
            require(buffer in self.kernel.parameters, f"{buffer.name} is no parameter")
            require(buffer.element in FLOATS, "products are of floats")
        require(bool(getattr(buffers[-1], "written", False)), "a product is written")
        require(place.in_cell, "stores are part of the parallel axis")
        address, *numbers = instruction.args
        require(address.type == "i64" and len(numbers) == 13, "a product has its numbers")
        for number in numbers:
            self.uniform(number, "index", "an extent or a step of a product")

    def follow_index(self, instruction: Instruction, place: _Place) -> None:
        """Record the polynomial of an index, and what depends on the grouping of lanes."""
        (result,), args = instruction.results, instruction.args
        grouped = [a for a in args if self.depends_on_grouping(a)]
        if result.lane:
            self.follow_lanes(instruction, grouped, place)
            return
        found = polynomial.of_instruction(instruction, self.known)
        if found is not None:
            self.known[result.number] = found
        if grouped:
            self.grouped.add(result.number)

    def follow_lanes(
        self, instruction: Instruction, grouped: Sequence[Value], place: _Place
    ) -> None:
        """Record multiples of ``lane_id``; an index must be added to the one that goes with it."""
        (result,), op = instruction.results, instruction.op
        steps = [self.steps[a.number] for a in instruction.args if a.number in self.steps]
        if grouped:
            fits = op == "add" and len(grouped) == 1 and steps == [self.growth(grouped[0], place)]
            require(fits, "an index enters lanes by its sum with lane_id only")
        elif op == "mul" and len(steps) == 1:
            others = [a for a in instruction.args if not a.lane]
            if others:
                factor = polynomial.of_value(others[0], self.known)
                self.steps[result.number] = polynomial.product(steps[0], factor)
        elif op == "trunc" and steps:
            self.steps[result.number] = steps[0]

    def growth(self, index: Value, place: _Place) -> polynomial.Polynomial | None:
        """By how much an index grows from one iteration of lanes to the next, where known."""
        if place.index is None:
            return None
        found = polynomial.of_value(index, self.known)
        unknown = polynomial.mentions(found, frozenset(self.grouped - {place.index}))
        return None if unknown else polynomial.coefficient(found, place.index)

    def buffer(self, instruction: Instruction) -> Buffer | Table:
        buffer = instruction.attrs["buffer"]
        assert isinstance(buffer, Buffer | Table), f"{instruction.op} names its buffer"
        require(buffer in self.kernel.parameters, f"{buffer.name} is no parameter")
        return buffer

    def access(self, instruction: Instruction, place: _Place) -> bool:
        """Check a load or store; whether it is of lanes."""
        buffer, stride, args = (
            self.buffer(instruction),
            instruction.attrs["stride"],
            instruction.args,
        )
        require(isinstance(buffer, Buffer), "tables are read by gather")
        require(args[0].type == "index" and not args[0].lane, "an access has a uniform index")
        require(stride in (0, 1, -1, "value"), f"{stride} is no stride")
        if instruction.op == "store":
            assert isinstance(buffer, Buffer), "tables are not written"
            require(buffer.written, f"{buffer.name} is read-only")
            values = stored_values(instruction)
            fits = all(value.type == memory_type(buffer) for value in values)
            require(fits, f"{buffer.name} holds another type")
            grouped = any(map(self.depends_on_grouping, values))
            require(not grouped, "what is stored is of one lane each")
            beside = len(values) == 1 or args[-1].literal == len(values)
            require(beside, "values that lie side by side fill a stride")
            require(place.in_cell or place.in_lanes, "stores are part of the parallel axis")
            require(stride != 0 or not args[1].lane, "a store of one element is of a uniform value")
            require(stride != 0 or not place.in_lanes, "many lanes would store one element")
        else:
            kind = instruction.results[0].type
            require(kind == memory_type(buffer), f"{buffer.name} holds another type")
            window = instruction.attrs.get("window", "")
            require(window in ("", "closed", "open"), f"{window} is no window")
            require(not window or stride == 1, "a window is of neighbors")
        if stride == 0:
            self.uniform(args[0], "index", "the index of one element")
            return False
        require(place.in_lanes, f"{instruction.op} of lanes outside of lanes and total")
        step = args[-1] if stride == "value" else None
        if step is not None:
            self.uniform(step, "index", "a stride")
        self.grows_by_stride(args[0], step, stride, place)
        return True

    def grows_by_stride(
        self, index: Value, step: Value | None, stride: object, place: _Place
    ) -> None:
        """Require that the index grows by the stride from one iteration to the next."""
        wanted = {(): int(str(stride))} if step is None else polynomial.of_value(step, self.known)
        require(
            self.growth(index, place) == wanted,
            "an access's index grows by its stride from one iteration to the next",
        )

    def call(self, instruction: Instruction) -> None:
        name = str(instruction.attrs["function"])
        require(name in self.functions, f"there is no function {name}")
        function = self.functions[name]
        kinds = [v.type for v in instruction.args], [v.type for v in instruction.results]
        wanted = [v.type for v in function.parameters], [v.type for v in function.results]
        require(kinds == wanted, f"a call does not match the signature of {name}")
        grouped = any(self.depends_on_grouping(a) for a in instruction.args)
        require(not grouped, "a call is of values of all lanes")

    # -- blocks ----------------------------------------------------------------------------------
    def structured(self, instruction: Instruction, place: _Place) -> None:
        block = instruction.block
        require(block is not None, f"{instruction.op} has a body")
        assert block is not None, "as just checked"
        inner = self.enter(instruction, block, place)
        outer = set(self.scope)
        for value in block.carried:
            self.define(value, lane=value.lane)
        self.body(block.body, inner)
        self.yields(instruction, block)
        self.scope = outer
        for value in instruction.results:
            require(not value.lane or place.in_lanes, "results of lanes outside of lanes")
            self.define(value, lane=value.lane)

    def enter(self, instruction: Instruction, block: Block, place: _Place) -> _Place:
        """Check the operands of a block and define its index; where its body stands."""
        op, args = instruction.op, instruction.args
        bounds = {"grid": 1, "lanes": 2, "total": 2, "contract": 9, "loop": 3}.get(op, 0)
        require(len(args) >= bounds, f"{op} has {bounds} bounds")
        for bound in args[:bounds]:
            self.uniform(bound, "index", f"a bound of {op}")
        require((block.index is not None) == bool(bounds), f"{op} and its index do not agree")
        if op == "grid":
            require(not place.in_cell, "a grid stands at the top level only")
            place = replace(place, in_cell=True)
        elif op in ("lanes", "total", "contract"):
            require(not place.in_lanes, f"{op} cannot stand inside of lanes or total")
            require(op == "lanes" or place.in_cell, f"a {op} stands inside of a grid")
            assert block.index is not None, "as just checked"
            if op == "contract":
                self.contract(instruction, block)
            place = replace(place, in_lanes=True, index=block.index.number)
            self.grouped.add(block.index.number)
        elif op == "loop":
            step = args[2].literal
            require(step is not None and step > 0, "a loop's step is a positive constant")
        elif op == "if":
            self.uniform(args[0], "i1", "the condition of if")
        elif op == "while":
            require(not place.in_lanes, "a while is uniform: it cannot stand inside of lanes")
        else:
            require(args[0].type == "i1" and args[0].lane, "the mask of if_any is an i1 per lane")
        if block.index is not None:
            self.scope.add(block.index.number)
            self.ever.add(block.index.number)
        if op == "contract":
            return place
        self.carries(instruction, block, max(bounds, 1 if op in ("if", "if_any") else 0))
        return place

    def contract(self, instruction: Instruction, block: Block) -> None:
        """Check the matrices of a product, and that nothing else happens in its cell."""
        given = {value.number for value in self.kernel.arguments.values()}
        for extent in instruction.args[:2]:
            known = extent.literal is not None or extent.number in given
            require(known, "the extents of a product are those of all cells")
        kinds = [(v.type, v.lane) for v in block.carried]
        for side in ("left", "right"):
            buffer = instruction.attrs[side]
            assert isinstance(buffer, Buffer), "a contraction names its buffers"
            require(buffer in self.kernel.parameters, f"{buffer.name} is no parameter")
            require(buffer.element in FLOATS, "products are of floats")
            fits = kinds == [("index", False), (buffer.element, True)]
            require(fits, "the block of a product is given a row and sums of its elements' type")
        require(not instruction.results and not block.yields, "a product carries nothing on")
        cell = self.kernel.body[-1].block
        assert cell is not None, "a grid has a body"
        others = [i for i in cell.body if i is not instruction]
        alone = all(i.op in PRIMITIVES or i.op == "select" for i in others)
        require(alone and len(others) < len(cell.body), "a product is alone in its cell")

    def carries(self, instruction: Instruction, block: Block, first: int) -> None:
        """Check what a block is given against what it carries and results in."""
        inits = instruction.args[first:]
        op = instruction.op
        require(op in _CARRYING or not inits, f"{op} carries nothing")
        require(len(inits) == len(block.carried), f"{op} carries {len(block.carried)} values")
        for value, carried in zip(inits, block.carried, strict=True):
            self.fits(value, carried, op)
            require(op != "if_any" or carried.lane, "if_any carries values per lane")
        if op == "total":
            return
        shapes = [(v.type, v.lane) for v in block.carried]
        results = [(v.type, v.lane) for v in instruction.results]
        require(shapes == results, f"the results of {op} are not what it carries")

    def fits(self, value: Value, carried: Value, op: str) -> None:
        require(value.type == carried.type, f"{op} carries a {carried.type}, not a {value.type}")
        require(carried.lane or not value.lane, f"{op} carries lanes as one uniform value")
        grouped = self.depends_on_grouping(value)
        require(not grouped, f"what {op} carries depends on how many lanes run together")

    def yields(self, instruction: Instruction, block: Block) -> None:
        op = instruction.op
        for value in block.yields:
            self.use(value)
        if op == "contract":
            return
        if op != "total":
            yields = block.yields
            if op == "while":
                require(bool(yields), "a while yields whether it runs again")
                self.uniform(yields[0], "i1", "whether a while runs again")
                yields = yields[1:]
            require(len(yields) == len(block.carried), f"{op} yields what it carries")
            for value, carried in zip(yields, block.carried, strict=True):
                self.fits(value, carried, op)
            return
        combines = instruction.attrs["combines"]
        assert isinstance(combines, tuple), "a total names how it combines"
        counts = {len(combines), len(block.yields), len(instruction.results)}
        require(len(counts) == 1 and combines != (), "a total yields what it combines")
        require(
            instruction.attrs.get("lanes") in (None, 1), "a total has one lane, or those of rows"
        )
        rows = zip(combines, block.yields, instruction.results, strict=True)
        for combine, value, result in rows:
            require(combine in COMBINES, f"{combine} is no way to combine")
            domain: Domain = "bits" if combine in ("and", "or") else "numeric"
            require(accepts(domain, value.type), f"{combine} does not combine {value.type}")
            require(value.type == result.type, f"a total of {value.type} is no {result.type}")
            require(not result.lane, "the results of a total are uniform")
            require(not self.depends_on_grouping(value), "a total is of values of all lanes")
