"""Loops over numbers, elements of arrays, rows and columns as loops of Python's syntax.

Doubles become Python's floats, truth values its bools; variables keep their class all the time.
Rows and columns become arrays with one axis (:mod:`.vectors`). Arrays are what the engine holds,
with their axes in reverse. Where MATLAB does what is not written here (an array grows, a square
root becomes complex), the loop leaves, and is interpreted.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from matlab_frontend import nodes
from matlab_frontend.interpreter.captures import below
from matlab_frontend.interpreter.native.classes import (
    NARROW,
    ArrayClass,
    Kind,
    Made,
    NotNative,
    NumberClass,
    Operand,
    RecursiveError,
    VariableClass,
)
from matlab_frontend.interpreter.native.expressions import (
    Find,
    Shared,
    at_line,
    constant,
    literal,
    load,
    plus,
    store,
)
from matlab_frontend.interpreter.native.vectors import Along
from matlab_frontend.interpreter.native.whole_arrays import Wholes
from matlab_frontend.source import Span
from runmat_jit.core.frozen import frozen
from runmat_jit.loops.source import Helper, LoopSource


@frozen
class Translated:
    """A loop of Python's syntax.

    Attributes:
        source: The loop.
        operands: What it is given, by name.
        objects: Functions that it calls, by name.
        helpers: Those of them that are made of other functions.
        written: Variables whose arrays it stores to.
        results: Variables that it leaves: their names in the loop, and, where the loop may leave
            them alone, the names of the truth values that say so.
        kinds: The classes of those variables.
        inner: Variables of inner loops, which are empty where those had no turns: the names of the
            truth values that say so.
        grows: Arrays that get further elements, and how many in an iteration, as they are written.
        draws: Random numbers that are taken in an iteration, as they are written.
        is_bounded: No iteration takes or makes more than is written.
        alike: Pairs of arrays that must be of one size.
        vectors: Of the variables that the loop leaves, those that are rows or columns.
        is_real: Where NumPy finds an operation on those invalid, the interpreter runs the loop.
        rests: What is left of a turn at the statements that only the interpreter runs. There the
            loop ends, and the number ``left`` says which it was, counted from 1.

    """

    source: LoopSource
    operands: Mapping[str, Operand]
    objects: Mapping[str, Any]
    helpers: Mapping[Any, Helper]
    written: frozenset[str]
    results: Mapping[str, tuple[str, str]]
    kinds: Mapping[str, Kind]
    inner: Mapping[str, str]
    grows: Mapping[str, int]
    draws: int
    is_bounded: bool
    alike: frozenset[tuple[str, str]]
    vectors: Mapping[str, Along]
    is_real: bool
    rests: tuple[nodes.Block, ...]


def translate(
    loop: nodes.For | nodes.While,
    classes: Mapping[str, VariableClass],
    find: Find,
    scope: Any,
    *,
    counts: bool,
    may_grow: bool,
    passing: frozenset[str] = frozenset(),
) -> Translated:
    """A loop in a frame whose variables are of these classes.

    ``counts``: it is a ``for`` of whole numbers in equal steps; else of a line of numbers.
    ``may_grow``: lines of numbers may get elements behind their last by ``x(k) = value``; if not,
    they do by ``x(end + 1) = value`` and ``x = [x, value]`` alone. ``passing``: variables that
    nothing reads after an iteration.

    Raises:
        NotNative: it is interpreted.

    """
    shared = Shared(find)
    within = Translator(shared, scope, classes)
    within.passing = passing
    within.look_at(loop)
    within.growing = frozenset(growing_in(loop, classes, may_grow=may_grow))
    within.rebound -= within.growing
    within.grows = dict.fromkeys(within.growing, 0)
    for name in sorted(within.growing):
        shared.operand(f"m_{name}", Operand("extent", name, None))
        shared.operand(f"l_{name}", Operand("room", name))
    statement: ast.stmt
    if isinstance(loop, nodes.For):
        statement = at_line(within.outer_for(loop, counts=counts))
    else:
        (statement,) = within.while_(loop)
        assert isinstance(statement, ast.While), "it is one"
        statement.test = within.with_room(statement.test)
    names, flags = within.results()
    assigned = frozenset(
        each.id
        for each in ast.walk(statement)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    )
    kept = [*names.values(), *flags.values(), *within.empty_flags.values()]
    kept += [f"m_{name}" for name in within.growing if f"m_{name}" in assigned]
    kept += [name for name in ("drawn", "stopped", "left") if name in assigned]
    assert isinstance(statement, ast.For | ast.While), "it is a loop"
    if within.draws and "generator" in shared.operands:
        raise NotNative("random numbers by themselves and in arrays", loop.span)
    if (within.has_masks or within.fills_wholes) and within.has_parts:
        raise NotNative("elements that are chosen or stored, beside parts of arrays", loop.span)
    source = LoopSource(statement, (), assigned, tuple(sorted(kept)), {})
    return Translated(
        source,
        shared.operands,
        shared.objects,
        shared.all_helpers(),
        frozenset(within.written),
        {name: (held, flags.get(name, "")) for name, held in names.items()},
        {name: within.kinds.get(name) or within.kind_of(name) for name in names},
        within.empty_flags,
        within.grows,
        within.draws,
        within.is_bounded,
        frozenset(within.alike),
        {name: along for name in names if (along := within.along_of(name)) is not None},
        within.is_real,
        tuple(within.rests),
    )


class Translator(Wholes):
    """Translates statements."""

    # -- the loop ----------------------------------------------------------------------------------
    def look_at(self, *parts: Any) -> None:
        """Note with how many subscripts each array is used, and the variables of loops within."""
        for node in below(*parts):
            if isinstance(node, nodes.Index) and isinstance(node.target, nodes.Name):
                self.subscripts.setdefault(node.target.name, set()).add(len(node.arguments))
            elif isinstance(node, nodes.For) and node not in parts:
                self.counted.update(_targets(node))
        copies = [found for node in below(*parts) if (found := copied_by(node)) is not None]
        for _ in copies:  # both are then used in the same form
            for one, other in copies:
                counts = self.subscripts.get(one, set()) | self.subscripts.get(other, set())
                self.subscripts[one] = self.subscripts[other] = counts
        self.look_at_vectors(*parts)

    def outer_for(self, loop: nodes.For, *, counts: bool) -> ast.stmt:
        """The loop itself, whose range or items are operands."""
        name, span = self.target_of(loop), loop.span
        if not counts:
            item = ast.Name(f"item_{name}", ast.Store())
            items = self.shared.operand("items", Operand("items"))
            head = self.assigned(name, Made(self.float(load(item.id)), "double"), span)
            self.loops += 1
            body = [*map(at_line, head), *self.body(loop.body)]
            self.loops -= 1
            return ast.For(item, items, body, [])
        first = self.shared.operand("first", Operand("first"))
        stop = self.shared.operand("stop", Operand("stop"))
        known = step_of(loop.columns)
        by = self.shared.operand("step", Operand("step")) if known is None else constant(known)
        counted = ast.Call(self.shared.basic("range"), [first, stop, by], [])
        return ast.For(*self.counting(loop, name, counted), [])

    def counting(
        self, loop: nodes.For, name: str, counted: ast.expr
    ) -> tuple[ast.expr, ast.expr, list[ast.stmt]]:
        """Target, range and body of a loop that counts."""
        if name in self.around:
            raise NotNative(f"{name} is the variable of two loops at once", loop.span)
        self.around.add(name)
        self.loops += 1
        twin = f"i_{name}"
        made = Made(self.float(load(twin)), "double")
        head = self.assigned(name, made, loop.span)
        rebound = any(name in _targets(each) for each in below(loop.body))
        if not rebound:
            self.twins[name] = load(twin)
        body = [*map(at_line, head), *self.body(loop.body)]
        self.twins.pop(name, None)
        self.around.discard(name)
        self.loops -= 1
        return ast.Name(twin, ast.Store()), counted, body

    def target_of(self, loop: nodes.For) -> str:
        if not isinstance(loop.target, nodes.Name):
            raise NotNative("a loop's variable is a part of another", loop.span)
        return loop.target.name

    def results(self) -> tuple[dict[str, str], dict[str, str]]:
        """The variables that the loop binds: their names in it, and what says whether it did."""
        names, flags = {}, {}
        for name in sorted(self.bound):
            names[name] = f"v_{name}"
            if name in self.rebound:
                self.vector(name)
                continue
            start: float | bool = False if self.kinds[name] == "logical" else 0.0
            if name in self.classes:
                self.shared.operand(f"v_{name}", Operand("value", name))
            else:
                flags[name] = f"set_{name}"
                self.shared.operand(f"v_{name}", Operand("constant", part=start))
                self.shared.operand(f"set_{name}", Operand("constant", part=False))
        return names, flags

    # -- statements --------------------------------------------------------------------------------
    def body(self, block: nodes.Block) -> list[ast.stmt]:
        """Statements of a block."""
        made: list[ast.stmt] = []
        for at, statement in enumerate(block):
            if self.known is None:  # what follows is never run
                break
            self.way.append(block[at:])
            made += [at_line(each) for each in self.statement_or_exit(statement)]
            self.way.pop()
        return made or [at_line(ast.Pass())]

    def statement_or_exit(self, node: nodes.Statement) -> list[ast.stmt]:
        """A statement; one that is not known in a branch of the loop itself ends the loop there.

        In a branch of a function that is called nothing of the iteration has happened.
        """
        if self.loops != int(not self.inside) or len(self.way) == 1:
            return self.statement(node)
        before = self.state()
        try:
            return self.statement(node)
        except RecursiveError:
            if self.inside:  # else each call that calls itself would leave
                raise
            self.reset(before)
        except NotNative:
            self.reset(before)
        if self.inside:
            self.known = None
            self.nothing.append(constant(value=False))
            never = ast.Call(
                self.shared.basic("demand"), [constant(value=False), self.nothing[-1]], []
            )
            return [ast.Return(never)]
        here, *around = reversed(self.way)
        self.rests.append((*here, *(each for block in around for each in block[1:])))
        self.known = None
        self.shared.operand("left", Operand("constant", part=0))
        return [ast.Assign([store("left")], constant(len(self.rests))), ast.Break()]

    def statement(self, node: nodes.Statement) -> list[ast.stmt]:
        match node:
            case nodes.Assignment(targets=(target,), suppressed=True, bracketed=False):
                return self.assignment(target, node.value)
            case nodes.If():
                return self.branches(
                    [(branch.condition, branch.body) for branch in node.branches], node.otherwise
                )
            case nodes.Switch():
                return self.switch(node)
            case nodes.For():
                return self.for_(node)
            case nodes.While():
                return self.while_(node)
            case nodes.Break():
                self.known = None
                return [*self.stopping(), ast.Break()]
            case nodes.Continue():
                self.known = None
                return [ast.Continue()]
            case nodes.Return() if self.inside and not self.loops:
                returned = self.variable(self.output, node.span)
                self.known = None
                return [ast.Return(returned.node)]
        raise NotNative(_NAMES.get(type(node), "a statement of another kind"), node.span)

    def copied(self, name: str, other: str, span: Span) -> list[ast.stmt]:
        """``name = other`` of arrays: the elements are stored where the others were."""
        into, found = self.classes.get(name), self.classes[other]
        assert isinstance(found, ArrayClass), "the caller looked"
        if not isinstance(into, ArrayClass) or self.inside or {name, other} & self.growing:
            raise NotNative(f"{other} is used as a whole array", span)
        if (into.kind, into.axes) != (found.kind, found.axes):
            raise NotNative(f"{name} becomes an array of another class", span)
        self.written.add(name)
        self.alike.add((name, other))
        if self.is_bound_here(other):
            raise NotNative(f"{other} changes places with an array that is stored to", span)
        if self.subscripts.get(name, set()) <= {found.axes}:
            to = self.shared.operand(f"a_{name}", Operand("data", name))
            of = self.shared.operand(f"a_{other}", Operand("data", other))
        else:
            to = self.shared.operand(f"l_{name}", Operand("line", name))
            of = self.shared.operand(f"l_{other}", Operand("line", other))
        return [ast.Assign([ast.Subscript(to, ast.Slice(), ast.Store())], of)]

    def stopping(self) -> list[ast.stmt]:
        """Take note that the loop itself ends by a ``break``."""
        if self.inside or self.loops != 1:
            return []
        self.shared.operand("stopped", Operand("constant", part=False))
        return [at_line(ast.Assign([store("stopped")], constant(value=True)))]

    def with_room(self, test: ast.expr) -> ast.expr:
        """What a ``while`` asks, as long as there is room for what an iteration takes and makes."""
        limited = [f"m_{name}" for name in sorted(self.grows)]
        limited += ["drawn"] if self.draws else []
        tests: list[ast.expr] = []
        for name in limited:
            limit = self.shared.operand(f"last_{name}", Operand("limit", part=name))
            tests.append(ast.Compare(load(name), [ast.LtE()], [limit]))
        return ast.BoolOp(ast.And(), [*tests, test]) if tests else test

    def appended(self, name: str, value: nodes.Expression) -> list[ast.stmt]:
        """A further element of a line of numbers."""
        found = self.classes[name]
        assert isinstance(found, ArrayClass), "it grows"
        stored = self.stored(found, self.value(value))
        self.grows[name] += 1
        self.is_bounded &= self.loops == 1
        self.written.add(name)
        length = f"m_{name}"
        room = self.shared.operand(f"l_{name}", Operand("room", name))
        place = ast.Call(self.shared.basic("natural"), [load(length)], [])
        longer = ast.BinOp(load(length), ast.Add(), constant(1))
        return [
            ast.Assign([ast.Subscript(room, place, ast.Store())], stored),
            ast.Assign([store(length)], longer),
        ]

    def stored(self, found: ArrayClass, made: Made) -> ast.expr:
        """A number as an array of this class holds it."""
        if found.kind == "single":
            return self.narrow_operand(made, "single")
        if found.kind == "double" or made.kind in NARROW:
            return self.as_float(made)  # which refuses the latter
        return self.truth(made)

    def put(self, name: str, found: ArrayClass, target: nodes.Index, made: Made) -> list[ast.stmt]:
        """``name(place) = made`` where the place may be the one behind the last."""
        self.ends.append((name, 0, 1))
        place = self.place(target.arguments[0])
        self.ends.pop()
        self.temporaries += 1
        at, value, length = f"at_{self.temporaries}", f"put_{self.temporaries}", f"m_{name}"
        self.grows[name] += 1
        self.is_bounded &= self.loops == 1
        self.written.add(name)
        room = self.shared.operand(f"l_{name}", Operand("room", name))
        natural = self.shared.basic("natural")
        behind = ast.Compare(load(at), [ast.Eq()], [load(length)])
        last = ast.Call(self.shared.basic("demand"), [behind, load(length)], [])
        longer = ast.BinOp(load(length), ast.Add(), constant(1))
        store_it = ast.Assign(
            [ast.Subscript(room, ast.Call(natural, [load(at)], []), ast.Store())], load(value)
        )
        grow_it = [
            ast.Assign(
                [ast.Subscript(room, ast.Call(natural, [last], []), ast.Store())], load(value)
            ),
            ast.Assign([store(length)], longer),
        ]
        inside = ast.Compare(load(at), [ast.Lt()], [load(length)])
        return [
            ast.Assign([store(value)], self.stored(found, made)),
            ast.Assign([store(at)], place),
            ast.If(inside, [at_line(store_it)], [at_line(each) for each in grow_it]),
        ]

    def assignment(self, target: nodes.Target, value: nodes.Expression) -> list[ast.stmt]:
        grown = grown_by(target, value)
        if grown is not None and grown[0] in self.growing:
            return self.appended(*grown)
        if isinstance(target, nodes.Name):
            return self.binding(target, value)
        if not isinstance(target, nodes.Index) or not isinstance(target.target, nodes.Name):
            raise NotNative("an assignment to a field or a cell", target.span)
        name = target.target.name
        found = self.class_of_array(name)
        if found is None or self.inside:
            raise NotNative(f"elements of {name}, which is no array of numbers", target.span)
        if name in self.growing:
            if len(target.arguments) != 1:
                raise NotNative(f"{name}, which grows, with several subscripts", target.span)
            return self.put(name, found, target, self.value(value))
        if self.is_chosen(target) and self.along_of(name) is not None:
            return self.store_chosen(target, value)
        if self.along_of_part(name, target.arguments) is not None:
            return self.store_part(target, value)
        stored = self.stored(found, self.value(value))
        place = self.element(name, found, target.arguments, target.span)
        self.written |= set() if self.is_bound_here(name) else {name}
        assert isinstance(place, ast.Subscript), "an element is one"
        return [ast.Assign([ast.Subscript(place.value, place.slice, ast.Store())], stored)]

    def binding(self, target: nodes.Name, value: nodes.Expression) -> list[ast.stmt]:
        """``name = value``."""
        is_new = target.name in self.passing and self.along(value) is not None
        if target.name in self.rebound or is_new:
            return self.bind_vector(target, value)
        is_stored = target.name in self.stored_to and not isinstance(value, nodes.Name)
        if is_stored and self.along_of(target.name) is not None:
            return self.overwrite(target, value)
        if isinstance(value, nodes.Name) and isinstance(self.classes.get(value.name), ArrayClass):
            return self.copied(target.name, value.name, target.span)
        return self.assigned(target.name, self.value(value), target.span)

    def assigned(self, name: str, made: Made, span: Span) -> list[ast.stmt]:
        """``name = made``."""
        before = self.classes.get(name)
        if before is not None and not isinstance(before, NumberClass):
            raise NotNative(f"{name} becomes another array", span)
        if self.kinds.setdefault(name, made.kind) != made.kind:
            raise NotNative(f"{name} is of several classes", span)
        self.bound.add(name)
        assert self.known is not None, "what is never run is not translated"
        self.known.add(name)
        statements: list[ast.stmt] = [ast.Assign([store(f"v_{name}")], made.node)]
        if before is None and not self.inside:
            statements.append(ast.Assign([store(f"set_{name}")], constant(value=True)))
        return statements

    def branches(
        self,
        ways: Sequence[tuple[nodes.Expression, nodes.Block]],
        otherwise: nodes.Block,
        test: Callable[[nodes.Expression], ast.expr] | None = None,
    ) -> list[ast.stmt]:
        """``if``, ``elseif`` and ``else``."""
        if not ways:
            return self.body(otherwise) if otherwise else []
        (condition, block), rest = ways[0], ways[1:]
        holds = (test or self.condition)(condition)
        assert self.known is not None, "what is never run is not translated"
        before = set(self.known)
        body = self.body(block)
        after, self.known = self.known, before
        orelse = self.branches(rest, otherwise, test)
        self.known = _in_both(after, self.known)
        return [ast.If(holds, body, [at_line(each) for each in orelse])]

    def switch(self, node: nodes.Switch) -> list[ast.stmt]:
        """``switch`` of a number."""
        subject = self.value(node.subject)
        self.temporaries += 1
        name = f"subject_{self.temporaries}"

        def matches(value: nodes.Expression) -> ast.expr:
            if isinstance(value, nodes.CellArray):
                every = [matches(each) for row in value.rows for each in row]
                return ast.BoolOp(ast.Or(), every) if len(every) > 1 else every[0]
            made = self.value(value)
            return ast.Compare(load(name), [ast.Eq()], [self.exact(made)])

        ways = [(case.value, case.body) for case in node.cases]
        first = ast.Assign([store(name)], self.exact(subject))
        return [first, *self.branches(ways, node.otherwise, matches)]

    def for_(self, node: nodes.For) -> list[ast.stmt]:
        """A loop within, over a range of whole numbers."""
        name, columns = self.target_of(node), node.columns
        while isinstance(columns, nodes.Parenthesized):
            columns = columns.expression
        if not isinstance(columns, nodes.Range):
            raise NotNative("a loop over what is no range", node.span)
        if step_of(columns) == 0:
            raise NotNative("a loop that does not move", node.span)
        start, stop = self.whole(columns.start), self.whole(columns.stop)
        by, after = self.step(columns, stop)
        counted = ast.Call(self.shared.basic("range"), [start, after, by], [])
        before = self.known
        self.known = set(before or ())
        statement = ast.For(*self.counting(node, name, counted), [])
        self.known = before
        if self.inside:
            return [statement]
        flag = self.empty_flags.setdefault(name, f"empty_{name}")
        self.shared.operand(flag, Operand("constant", part=False))
        head = at_line(ast.Assign([store(flag)], constant(value=False)))
        statement.body.insert(0, head)
        return [ast.Assign([store(flag)], constant(value=True)), statement]

    def step(self, columns: nodes.Range, stop: ast.expr) -> tuple[ast.expr, ast.expr]:
        """The step of a range, and where it ends, which is no more of it."""
        known = step_of(columns)
        if known is not None:
            return constant(known), plus(stop, 1 if known > 0 else -1)
        assert columns.step is not None, "its step is computed"
        by = self.whole(columns.step)
        upwards = ast.Compare(by, [ast.Gt()], [constant(0)])
        return by, ast.BinOp(stop, ast.Add(), ast.IfExp(upwards, constant(1), constant(-1)))

    def while_(self, node: nodes.While) -> list[ast.stmt]:
        holds = self.condition(node.condition)
        before = self.known
        self.known = set(before or ())
        self.loops += 1
        statement = ast.While(holds, self.body(node.body), [])
        self.loops -= 1
        self.known = before
        return [at_line(statement)]


def copied_by(node: nodes.Node) -> tuple[str, str] | None:
    """The variables of ``u = v``."""
    match node:
        case nodes.Assignment(targets=(nodes.Name(name=name),), value=nodes.Name(name=other)):
            return name, other
    return None


def growing_in(
    loop: nodes.Node, classes: Mapping[str, VariableClass], *, may_grow: bool
) -> Iterator[str]:
    """The lines of numbers that get further elements (``may_grow`` as of :func:`translate`)."""
    for node in below(loop):
        if not isinstance(node, nodes.Assignment) or len(node.targets) != 1:
            continue
        name, is_row = "", None
        match node.targets[0], node.value:
            case target, value if grown_by(target, value) is not None:
                name, _ = grown_by(target, value) or ("", None)
                if isinstance(target, nodes.Name) and isinstance(value, nodes.Matrix):
                    is_row = len(value.rows) == 1
            case nodes.Index(target=nodes.Name(name=stored), arguments=(_,)), _ if may_grow:
                name = stored
        found = classes.get(name)
        if not isinstance(found, ArrayClass):
            continue
        if (found.is_row and is_row is not False) or (found.is_column and is_row is not True):
            yield name


def grown_by(target: nodes.Target, value: nodes.Expression) -> tuple[str, nodes.Expression] | None:
    """The variable that gets an element behind its last, and that element.

    ``x(end + 1) = value``, ``x(numel(x) + 1) = value``, ``x = [x, value]`` and ``x = [x; value]``.
    """
    match target, value:
        case (
            nodes.Index(
                target=nodes.Name(name=name),
                arguments=(nodes.Binary(operator="+", left=left, right=nodes.Number(value=1.0)),),
            ),
            _,
        ) if isinstance(left, nodes.End) or _is_length_of(left, name):
            return name, value
        case (
            nodes.Name(name=name),
            nodes.Matrix(rows=((nodes.Name(name=first), new),))
            | nodes.Matrix(rows=((nodes.Name(name=first),), (new,))),
        ) if name == first:
            return name, new
    return None


def _is_length_of(node: nodes.Expression, name: str) -> bool:
    match node:
        case nodes.Index(
            target=nodes.Name(name="numel" | "length"), arguments=(nodes.Name(name=of),)
        ):
            return of == name
    return False


def step_of(columns: nodes.Expression) -> int | None:
    """The step of a range, if it is a whole number that is written in the program."""
    while isinstance(columns, nodes.Parenthesized):
        columns = columns.expression
    if not isinstance(columns, nodes.Range):
        return None
    step = 1.0 if columns.step is None else literal(columns.step)
    return int(step) if step is not None and step == step // 1 else None


def _targets(node: nodes.Node) -> Iterator[str]:
    """The variables that a statement binds."""
    if isinstance(node, nodes.Assignment):
        for target in node.targets:
            if isinstance(target, nodes.Name):
                yield target.name
    elif isinstance(node, nodes.For) and isinstance(node.target, nodes.Name):
        yield node.target.name


def _in_both(one: set[str] | None, other: set[str] | None) -> set[str] | None:
    """What has a value where two ways meet; None: neither comes there."""
    if one is None or other is None:
        return other if one is None else one
    return one & other


_NAMES: Final[Mapping[type, str]] = {
    nodes.ExpressionStatement: "a statement that shows or calls something",
    nodes.Assignment: "an assignment that is shown, or of several values",
    nodes.Deletion: "elements are removed",
    nodes.Command: "a command",
    nodes.Try: "a try block",
    nodes.Global: "a global variable",
    nodes.Persistent: "a persistent variable",
    nodes.Return: "a return",
    nodes.DoUntil: "a loop that ends with its question",
}
