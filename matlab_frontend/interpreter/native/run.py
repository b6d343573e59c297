"""When loops run natively, and on what.

A loop begins in the interpreter. Where it takes longer than compiling it would, a kernel takes over
between two turns: by then its variables have their classes. It leaves where something is to happen
that it does not know; then nothing has happened yet, and the interpreter goes on where it was.

A branch may hold statements that no kernel knows, such as ``fprintf``. The loop ends natively where
it comes to one, the interpreter runs the rest of that turn, and the kernel goes on with the next.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.interpreter.captures import below, names_in
from matlab_frontend.interpreter.flow import Flow
from matlab_frontend.interpreter.ownership import is_alone, references
from matlab_frontend.values.array import AnonymousHandle, Array, NamedHandle
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import empty, wrap
from runmat_jit.core.hotness import AGAIN, FAILURES, LOOKS, OFTEN
from runmat_jit.core.prices import COMPILING, ELEMENTS, GUARDED, OPERATIONS, REPLAY

if TYPE_CHECKING:
    from matlab_frontend.engine import Engine
    from matlab_frontend.interpreter.frame import Frame
    from matlab_frontend.interpreter.interpreter import Interpreter
    from matlab_frontend.interpreter.native.classes import Filled, Operand, VariableClass
    from matlab_frontend.interpreter.native.translate import Translated
    from matlab_frontend.session import Session
    from runmat_jit.loops.program import LoopCall

FIRST_LOOK: Final = AGAIN
"""Iterations after which it is first asked whether a loop is worth compiling, then after twice as
many; for loops around others, after the first one."""
COMPILES: Final = COMPILING
"""Nodes that are interpreted in the time that compiling a loop takes, about."""
STARTS: Final = 3 * COMPILING
"""Likewise, that the compiler itself takes to start."""
KNOWN: Final = REPLAY * OPERATIONS
"""Nodes that a loop must save that has been compiled."""
ENTRY: Final = GUARDED * OPERATIONS
"""Nodes that are interpreted in the time that it takes to enter a loop natively."""
ALL: Final = -1
"""The loop has ended."""
RETURNED: Final = -2
"""The loop has come to a ``return``."""
FEW: Final = 1 << 13
"""Elements, and random numbers, that the buffers of the first part of a loop hold."""
MOST: Final = 1 << 20
"""The same of later parts."""
UNBOUNDED: Final = 8 * FEW
"""The same where nobody knows how many an iteration takes."""
FARTHEST: Final = 1 << 31
"""Loops count no farther natively."""
Rest: TypeAlias = "Callable[[Frame], Flow | None]"
"""Statements as the interpreter runs them."""
RECORDED: Final = 8 * ELEMENTS
"""Elements of arrays whose operations are recorded, about: each takes some ten nodes more."""
MANY: Final = LOOKS
"""Iterations whose mean is the time of one: the first ones take longer than others."""
_OF_ARRAYS: Final = ("data", "line", "extent", "room")
_CLASSES: Final = {
    np.dtype(np.float64): "double",
    np.dtype(np.float32): "single",
    np.dtype(np.bool_): "logical",
}


class NativeLoop:
    """A loop statement of a program."""

    __slots__ = (
        *(
            "calls",
            "compile_rest",
            "exits",
            "first_look",
            "interpreter",
            "left",
            "may_grow",
            "node",
        ),
        *("reason", "refusals", "passing", "rests", "size", "spent", "whole"),
    )

    def __init__(
        self,
        interpreter: Interpreter,
        node: nodes.For | nodes.While,
        compile_rest: Callable[[nodes.Block], Rest],
        dead: Mapping[int, Sequence[str]],
    ) -> None:
        self.interpreter, self.node = interpreter, node
        self.compile_rest = compile_rest
        self.rests: dict[tuple[int, ...], Rest] = {}
        """Code that finishes an iteration in the interpreter, by identities of its statements."""
        self.left: nodes.Block = ()
        """Rest of the last native iteration, for the interpreter to finish."""
        self.exits = 0
        """Iterations of the last run that the interpreter has ended."""
        self.calls: dict[Any, tuple[Translated, LoopCall] | None] = {}
        self.refusals = 0
        self.spent = 0
        """What has been interpreted of it, in nodes."""
        self.size = 1 + sum(1 for _ in below(node.body))
        """Nodes of an iteration."""
        self.reason = ""
        self.may_grow = False
        """True if lines of numbers are taken to get elements behind their last."""
        self.whole = names_of_wholes(node.body)
        """Variables that are used as whole arrays, or that rows and columns are taken of."""
        self.passing = passing_in(node.body, dead)
        """Variables that nothing reads after an iteration."""
        nested = any(isinstance(each, nodes.For | nodes.While) for each in below(node.body))
        self.first_look = 1 if nested else FIRST_LOOK
        """After how many turns a run is to be looked at; 0: it never is."""

    def takes_over(
        self, frame: Frame, rest: range | np.ndarray | None, turns: int, work: int
    ) -> int:
        """Run what is before a loop natively, if that pays and is known to be right.

        Gives the iterations that have been run so, :data:`ALL` or :data:`RETURNED`.

        Args:
            frame: Of the variables.
            rest: What a ``for`` has still before it; None: a ``while``.
            turns: What the interpreter has run.
            work: Of how many nodes that was.

        """
        work *= self.weight(frame)
        ahead = work if rest is None else work // turns * len(rest)
        cost = KNOWN if self.calls else COMPILES if "llvmlite" in sys.modules else STARTS
        if max(ahead, self.spent) < cost or (rest is not None and not len(rest)):
            return 0
        done, few, self.exits = 0, FEW, 0
        while rest is None or done < len(rest):
            before = None if rest is None else rest[done:]
            ran = self.part(frame, before, few)
            if ran == ALL:
                return ALL
            if not ran:
                break
            done, few = done + ran, min(8 * few, MOST)
            if self.left:
                flow = self.end_turn(frame)
                if flow is Flow.RETURN:
                    return RETURNED
                if flow is Flow.BREAK:
                    return ALL
                if self.exits >= OFTEN and self.is_slow(frame, done, work, turns):
                    break
        if done:
            return done if rest is None or done < len(rest) else ALL
        self.refuse(frame)
        return 0

    def weight(self, frame: Frame) -> int:
        """How many nodes of numbers take the time of one of the loop's, which may be of arrays."""
        sizes = [
            math.prod(held.data.shape)
            for name in self.whole
            if type(held := frame.variables.get(name)) is Array
        ]
        most = max(sizes, default=1)
        return 1 if most <= 1 else 2 + min(most, RECORDED) // ELEMENTS + most // RECORDED

    def is_slow(self, frame: Frame, done: int, work: int, turns: int) -> bool:
        """True if the interpreter is to go on, as it is faster, or may be.

        ``done`` turns have been run; others as of :meth:`takes_over`.
        """
        if ENTRY * self.exits > work // turns * done:
            self.reason = "it comes too often to what only the interpreter does"
            self.refuse(frame)
            return True
        return turns < MANY and done < MANY * self.exits / OFTEN

    def end_turn(self, frame: Frame) -> Flow | None:
        """Let the interpreter run what is left of an iteration; how it left the iteration."""
        statements, self.left = self.left, ()
        key = tuple(map(id, statements))
        if key not in self.rests:
            self.rests[key] = self.compile_rest(statements)
        self.exits += 1
        return self.rests[key](frame)

    def refuse(self, frame: Frame) -> None:
        """Take note of a run that is interpreted."""
        self.note(frame, f"interpreted: {self.reason}")
        self.refusals += 1
        if self.refusals >= FAILURES:
            self.first_look = 0

    def note(self, frame: Frame, how: str) -> None:
        """Say how the loop ran last, for people."""
        source, start = frame.scope.source, self.node.span.start
        self.interpreter.session.loops[source.name, source.position(start).line] = how

    def part(self, frame: Frame, rest: range | np.ndarray | None, few: int) -> int:
        """Run some iterations, which make ``few`` elements and random numbers at most.

        Gives their number, or :data:`ALL` where the loop has ended.
        """
        found = self.found(frame, rest)
        if found is None:
            return 0
        translated, call = found
        if not translated.is_bounded:
            few = UNBOUNDED
        while True:
            part = rest
            if rest is not None and translated.is_bounded:
                most = max((translated.draws, *translated.grows.values()))
                part = rest[: max(1, few // most)] if most else rest
            room = Room(self.interpreter.session, translated, few)
            made = dict[str, Array]()
            values = self.operands(frame, translated, part, room, made)
            results = None if values is None else attempted(call, translated, values, made)
            if results is not None or values is None or translated.is_bounded or few > MOST:
                break
            few *= 8  # there may have been too little room
        if results is None:
            self.reason = "it left for what only the interpreter does"
            return self.growing(frame, rest, few, translated)
        self.note(frame, f"natively, {call.turns} turns in the last run{self.told_of_exits()}")
        named = dict(zip(call.source.results, results, strict=True))
        frame.variables.update(made)
        keep(frame.variables, translated, named)
        room.keep(frame.variables, named)
        if named.get("stopped", False):
            return ALL
        if named.get("left", 0):
            self.left = translated.rests[named["left"] - 1]
            return call.turns
        self.refusals = 0
        if rest is None:
            return call.turns if room.is_used_up(named) else ALL
        assert part is not None, "it is a part of the rest"
        return ALL if len(part) == len(rest) else len(part)

    def told_of_exits(self) -> str:
        """Note for explanations about iterations that the interpreter finished."""
        return f", after {self.exits} that the interpreter ended" if self.exits else ""

    def growing(
        self, frame: Frame, rest: range | np.ndarray | None, few: int, left: Translated
    ) -> int:
        """Like :meth:`part`, for a loop that may have left as it stored behind a last element."""
        if self.may_grow:
            return 0
        self.may_grow = True
        found = self.found(frame, rest)
        if found is not None and found[0].grows.keys() != left.grows.keys():
            ran = self.part(frame, rest, few)
            if ran:
                return ran
        self.may_grow = False
        return 0

    def ended(self, turns: int, work: int) -> None:
        """A run has ended, all of it interpreted."""
        if turns >= FIRST_LOOK:
            self.spent += work

    def found(
        self, frame: Frame, rest: range | np.ndarray | None
    ) -> tuple[Translated, LoopCall] | None:
        """The loop for variables of these classes; None where it is interpreted."""
        variables = frame.variables
        if type(variables) is not dict or frame.holds:
            self.reason = "variables are shared"
            return None
        if isinstance(rest, range) and max(abs(rest.start), abs(rest.stop)) > FARTHEST:
            self.reason = "it counts too far"
            return None
        classes = classes_of(variables, names_in(self.node))  # type: ignore[arg-type]  # any node
        counts = isinstance(rest, range)
        means = frame.scope.file, self.interpreter.library.version
        key = means, counts, self.may_grow, tuple(sorted(classes.items(), key=_name))
        if key not in self.calls:
            self.calls[key] = self.make(frame, classes, counts=counts)
        return self.calls[key]

    def make(
        self, frame: Frame, classes: Mapping[str, VariableClass], *, counts: bool
    ) -> tuple[Translated, LoopCall] | None:
        """Translate the loop."""
        from matlab_frontend.interpreter.native.classes import NotNative  # noqa: PLC0415  (rare)
        from matlab_frontend.interpreter.native.translate import translate  # noqa: PLC0415  (rare)
        from runmat_jit.loops.program import LoopCall, Reads  # noqa: PLC0415  (loaded by now)
        from runmat_jit.loops.source import Chain  # noqa: PLC0415  (likewise)

        try:
            made = translate(
                self.node,
                classes,
                self.interpreter.find_function,
                frame.scope,
                counts=counts,
                may_grow=self.may_grow,
                passing=self.passing,
            )
        except NotNative as refused:
            self.reason = refused.why
            return None
        loops = self.interpreter.engine.loops()  # which loads the compiler
        if loops is None:
            self.first_look = 0
            return None
        objects = {Chain(name): value for name, value in made.objects.items()}
        reads = Reads(tuple(map(Chain, made.operands)), objects, made.helpers)
        return made, LoopCall(made.source, frame.name or "a script", reads, loops.services)

    def operands(
        self,
        frame: Frame,
        translated: Translated,
        rest: range | np.ndarray | None,
        room: Room,
        made: dict[str, Array],
    ) -> tuple[Any, ...] | None:
        """What a loop is given; None where an array cannot be given so.

        ``made`` takes new arrays, which are to become the variables' if the loop does not leave.
        """
        arrays: dict[str, np.ndarray] = {}
        for operand in translated.operands.values():
            name = operand.variable
            if operand.what in _OF_ARRAYS and name not in arrays:
                arrays[name] = self.array(frame, name, translated.written, made)
        if any(arrays[one].shape != arrays[other].shape for one, other in translated.alike):
            return None
        if any(
            operand.what == "line" and not arrays[operand.variable].flags.c_contiguous
            for operand in translated.operands.values()
        ):
            return None
        values = [
            room.given(operand, arrays)
            if operand.what in ("room", "draws", "limit", "generator")
            else filled(operand.part, frame.variables)
            if operand.what == "filled"
            else given(operand, frame.variables.get(operand.variable), arrays, rest)
            for operand in translated.operands.values()
        ]
        return None if any(value is None for value in values) else tuple(values)

    def array(
        self, frame: Frame, name: str, written: frozenset[str], made: dict[str, Array]
    ) -> np.ndarray:
        """The elements of a variable; ``made``, as above, if they are written and others' too."""
        engine, variables = self.interpreter.engine, frame.variables
        held = variables[name]
        assert type(held) is Array, "its class is known"
        count, known = references(held), type(held.data) is np.ndarray
        if known and (name not in written or is_writable(engine, held, count)):
            return held.data  # type: ignore[no-any-return]  # known memory
        data = engine.look(held.data)
        if name not in written:
            return data
        made[name] = Array(held.kind, np.array(data))
        return made[name].data  # type: ignore[no-any-return]  # known memory


class Room:
    """Memory for what turns of a loop make, and random numbers for them: so many of each."""

    def __init__(self, session: Session, translated: Translated, few: int) -> None:
        self.session, self.translated = session, translated
        self.few = max(few, translated.draws, *translated.grows.values())
        self.lines: dict[str, tuple[np.ndarray, tuple[int, ...]]] = {}
        """Of arrays that grow: the line with room behind it, and their shape."""
        self.bits: np.ndarray | None = None

    def given(self, operand: Operand, arrays: Mapping[str, np.ndarray]) -> Any:
        """An operand of the loop."""
        few, grows = self.few, self.translated.grows
        if operand.what == "limit":
            if operand.part == "drawn":
                return few - self.translated.draws
            name = operand.part.removeprefix("m_")
            return arrays[name].size + few - grows[name]
        if operand.what == "room":
            array = arrays[operand.variable]
            line = np.zeros(array.size + few, array.dtype)
            line[: array.size] = array.reshape(-1)
            self.lines[operand.variable] = line, array.shape
            return line
        if operand.what == "generator":
            return self.session.random()
        ahead = self.session.singles_ahead()
        if operand.part in ("uniform", "normal"):
            return ahead.ahead(operand.part, few)
        if self.bits is None:
            self.bits = ahead.ahead("bits", few)
        return (
            (self.bits >> 32) + (1 << 31) if operand.part == "bits_high" else self.bits & 0xFFFFFFFF
        )

    def keep(self, variables: dict[str, Any], results: Mapping[str, Any]) -> None:
        """Give the variables what has grown, and take what was drawn."""
        for name, (line, shape) in self.lines.items():
            size = results.get(f"m_{name}", math.prod(shape))
            rows = shape[0] == 1  # the axes are in reverse
            made = line.reshape(1, -1)[:, :size] if rows else line.reshape(-1, 1)[:size]
            variables[name] = wrap(variables[name].kind, made)
        if results.get("drawn", 0):
            self.session.singles_ahead().skip(results["drawn"])

    def is_used_up(self, results: Mapping[str, Any]) -> bool:
        """True if a ``while`` may have ended because there was no more room."""
        for name, (line, _) in self.lines.items():
            if results.get(f"m_{name}", 0) > line.size - self.translated.grows[name]:
                return True
        draws = self.translated.draws
        return bool(draws and results["drawn"] > self.few - draws)


def passing_in(body: nodes.Block, dead: Mapping[int, Sequence[str]]) -> frozenset[str]:
    """The names in a loop that nothing reads after the last statement of it that mentions them."""
    last: dict[str, nodes.Statement] = {}
    for statement in body:
        last.update(dict.fromkeys(names_in(statement), statement))  # type: ignore[arg-type]  # any node
    return frozenset(name for name, where in last.items() if name in dead.get(id(where), ()))


def names_of_wholes(body: nodes.Block) -> frozenset[str]:
    """The names that stand for all they hold, and those that are indexed by ``:`` or ``a:b``."""
    targets, found = set[int](), set[str]()
    for node in below(body):
        if isinstance(node, nodes.Index):
            targets.add(id(node.target))
            if isinstance(node.target, nodes.Name) and any(
                isinstance(each, nodes.Colon | nodes.Range) for each in node.arguments
            ):
                found.add(node.target.name)
    return frozenset(
        found | {n.name for n in below(body) if isinstance(n, nodes.Name) and id(n) not in targets}
    )


def attempted(
    call: LoopCall, translated: Translated, values: Sequence[Any], made: Mapping[str, Array]
) -> tuple[Any, ...] | None:
    """The results of a native run; None where it left, and nothing has happened but to ``made``."""
    if translated.is_real:
        with np.errstate(invalid="warn"):
            results = call.attempt(values)
    else:
        new = {id(array.data) for array in made.values()}
        owners = [id(getattr(value, "base", None)) for value in values]
        spare = [at for at, value in enumerate(values) if {id(value), owners[at]} & new]
        results = call.attempt(values, frozenset(spare))
    return None if results is None else call.merged(results, values)


def is_writable(engine: Engine, held: Array, count: int) -> bool:
    """True if the memory of a value with so many references may be stored to."""
    return is_alone(engine, held, count) and bool(held.data.flags.writeable)


def given(
    operand: Operand,
    held: Any,
    arrays: Mapping[str, np.ndarray],
    rest: range | np.ndarray | None,
) -> Any:
    """An operand of a loop; ``held`` is its variable, ``rest`` the iterations of a ``for``."""
    match operand.what:
        case "value":
            return number(held)
        case "count":
            found = number(held)
            return int(found) if math.isfinite(found) and found == int(found) else -1
        case "captured":
            return number(held.captured[operand.part])
        case "data":
            return arrays[operand.variable]
        case "line":
            return arrays[operand.variable].reshape(-1)
        case "extent":
            return extent(arrays[operand.variable].shape, operand.part)
        case "items":
            return rest
        case "constant":
            return operand.part
    assert isinstance(rest, range), "the loop counts"
    return {"first": rest.start, "stop": rest.stop, "step": rest.step}[operand.what]


def filled(part: Filled, variables: Mapping[str, Any]) -> np.ndarray | None:
    """``zeros``, ``ones`` or ``eye``; None where a size is 1 or no whole number."""
    sizes = [number(variables[each]) if isinstance(each, str) else each for each in part.sizes]
    if any(not 2 <= size < 1 << 31 or size != size // 1 for size in sizes):
        return None
    rows, *columns = map(int, sizes)
    if part.builtin == "eye":
        return np.eye(columns[0], rows)
    return np.full((*columns, rows), 1.0 if part.builtin == "ones" else 0.0)


def number(value: Any) -> Any:
    """A real scalar as loops are given it: a float, or a truth value."""
    if type(value) is not Array:
        return value
    only = np.asarray(value.data).item()
    return only if value.kind == "logical" else float(only)


def _name(item: tuple[str, Any]) -> str:
    return item[0]


def classes_of(variables: Mapping[str, Any], names: set[str]) -> dict[str, VariableClass]:
    """The classes of the variables that a loop mentions, as far as loops know them."""
    values = ((name, variables.get(name)) for name in names)
    return {name: class_of(value) for name, value in values if value is not None}


def class_of(value: Any) -> VariableClass:
    """What loops know of a value."""
    from matlab_frontend.interpreter.native.classes import (  # noqa: PLC0415  (with the first long loop)
        NARROW,
        ArrayClass,
        Handle,
        NamedFunction,
        NumberClass,
        OtherClass,
    )

    if type(value) is float:
        return NumberClass("double")
    if type(value) is bool:
        return NumberClass("logical")
    if type(value) is Array and value.kind in NARROW and is_number(value):
        return NumberClass(NARROW[value.kind])
    if type(value) is Array and value.data.dtype in _CLASSES and not value.on_device:
        shape, kind = value.data.shape, _CLASSES[value.data.dtype]
        if shape == (1, 1) and value.kind == kind != "single":  # it may not be computed yet
            return NumberClass(kind)  # type: ignore[arg-type]  # one of the two classes
        line = [len(shape) == 2 and extent == 1 for extent in shape[::-1]]
        return ArrayClass(kind, len(shape), *line[:2])  # type: ignore[arg-type]  # the three classes
    if type(value) is NamedHandle and value.scope is not None:
        return NamedFunction(value.name, value.scope)
    if type(value) is AnonymousHandle:
        held = [(name, class_of(each)) for name, each in sorted(value.captured.items(), key=_name)]
        numbers = tuple((name, a.kind) for name, a in held if isinstance(a, NumberClass))
        others = tuple(
            (name, a if isinstance(a, NamedFunction) else OtherClass())
            for name, a in held
            if not isinstance(a, NumberClass)
        )
        return Handle(value.parameters, value.body, value.scope, numbers, others)
    return OtherClass()


def is_number(value: Array) -> bool:
    """True if an array is one real number, and known."""
    data = value.data
    if type(data) is not np.ndarray or value.on_device:
        return False
    return bool(data.shape == (1, 1) and data.dtype == DTYPES[value.kind])


def extent(shape: Sequence[int], part: Any) -> int:
    """The extent of an axis, counted in MATLAB's order; None: all elements."""
    if part is None:
        return math.prod(shape)
    if part == "longest":
        return 0 if 0 in shape else max(shape)
    return int(shape[len(shape) - 1 - part])


def keep(variables: dict[str, Any], translated: Translated, results: Mapping[str, Any]) -> None:
    """Give the variables what a loop has left in them."""
    for name, (held, flag) in translated.results.items():
        if results.get(translated.inner.get(name, ""), False):
            variables[name] = empty(1, 0)
        elif not flag or results[flag]:
            made, kind = results[held], translated.kinds[name]
            if name in translated.vectors:
                data = np.array(made) if made.base is not None else made
                if translated.vectors[name] != "matrix":  # the axes are in reverse
                    is_column = translated.vectors[name] == "column"
                    data = data.reshape((1, -1) if is_column else (-1, 1))
                made = wrap(kind, data)
            elif kind not in ("double", "logical"):
                made = Array(kind, np.full((1, 1), made, DTYPES[kind]))
            variables[name] = made
