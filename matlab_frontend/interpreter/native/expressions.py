"""Expressions of MATLAB's numbers as expressions of Python's."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import field
from typing import Any, Final, TypeAlias

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin
from matlab_frontend.interpreter.native import narrow
from matlab_frontend.interpreter.native.classes import (
    NARROW,
    ArrayClass,
    Handle,
    Kind,
    Made,
    NamedFunction,
    NotNative,
    NumberClass,
    Operand,
    RecursiveError,
    VariableClass,
)
from matlab_frontend.interpreter.native.functions import (
    BASIC,
    CONSTANTS,
    DRAWS,
    FUNCTIONS,
    divide,
    is_true,
    modulo_of_whole,
    number_of,
    power,
    saturated,
    square,
    to_single,
    up_to,
)
from matlab_frontend.source import Span
from runmat_jit.core.slotted import slotted
from runmat_jit.loops.source import Chain, Given, Helper, HelperSource, helper_of

_WHOLE: Final = 1 << 31
"""Whole numbers of loops are at most as large as that."""
_DEPTH: Final = 4
"""Functions that call each other in a loop."""


Find: TypeAlias = Callable[[str, Any], Any]
"""Finds a function by its name, as the code of a file sees it."""


@slotted
class Shared:
    """What a loop and the functions that it calls are given."""

    find: Find
    operands: dict[str, Operand] = field(default_factory=dict)
    objects: dict[str, Any] = field(default_factory=dict)
    helpers: dict[Any, Helper] = field(default_factory=dict)
    inlined: dict[Any, tuple[str, Kind]] = field(default_factory=dict)
    """Functions of the program's: their names in the loop, and the classes of their values."""
    captured: dict[Any, Mapping[str, str]] = field(default_factory=dict)
    """Of those: the operands that stand for what handles captured."""
    callers: list[int | None] = field(default_factory=list)
    """Identities of the functions that are being translated; None: an anonymous one."""

    def basic(self, name: str) -> ast.expr:
        """A function that translated loops may name."""
        return self.thing(name, BASIC[name])

    def thing(self, name: str, value: Any) -> ast.expr:
        """What is no variable, by a name."""
        self.objects[name] = value
        return ast.Name(name, ast.Load())

    def function(self, function: Any) -> ast.expr:
        """A function of :mod:`.functions`."""
        name = function.__name__
        self.objects[name] = function
        self.helpers[function] = helper_of(function)
        return ast.Name(name, ast.Load())

    def operand(self, name: str, operand: Operand) -> ast.expr:
        self.operands[name] = operand
        return ast.Name(name, ast.Load())

    def all_helpers(self) -> dict[Any, Helper]:
        """Those of the program's functions know everything that the loop knows, too."""
        objects = {Chain(name): value for name, value in self.objects.items()}
        found = dict(self.helpers)
        for called, captured in self.captured.items():
            given = {Chain(n): Given(Chain(operand)) for n, operand in captured.items()}
            found[called] = Helper(self.helpers[called].source, {**objects, **given})
        return found


class Expressions:
    """Translates the expressions of one loop, or of a function that it calls.

    ``inside``: it is the function, and the variables are its parameters.

    Attributes:
        kinds: The classes of the numbers.
        known: The variables that have a value here for sure; None: nothing comes here.
        bound: The variables that statements bind.
        twins: Variables of loops around, which are integers, too.
        counted: Variables of loops within; what they are between those, nobody says.
        around: Variables of loops around; ``loops``: how many there are.
        growing: Arrays that get further elements: lines of numbers in larger memory.
        grows: How many in an iteration, as they are written.
        draws: Random numbers that are taken in an iteration, as they are written.
        is_bounded: No iteration takes or makes more.
        way: The statements from here to the end of each block around, the outermost one first.
        rests: What is left of an iteration where only the interpreter goes on.
        nothing: What a function gives where only the interpreter goes on: any number of the class.

    """

    def __init__(
        self,
        shared: Shared,
        scope: Any,
        classes: Mapping[str, VariableClass],
        *,
        inside: bool = False,
    ) -> None:
        self.shared, self.scope, self.classes = shared, scope, classes
        self.kinds: dict[str, Kind] = {
            name: found.kind for name, found in classes.items() if isinstance(found, NumberClass)
        }
        self.known: set[str] | None = set(self.kinds)
        self.bound: set[str] = set()
        self.twins: dict[str, ast.expr] = {}
        self.written: set[str] = set()
        self.alike: set[tuple[str, str]] = set()
        self.empty_flags: dict[str, str] = {}
        self.subscripts: dict[str, set[int]] = {}
        self.ends: list[tuple[str, int, int]] = []
        self.counted: set[str] = set()
        self.around: set[str] = set()
        self.inside, self.loops = inside, 0
        self.output = ""
        self.temporaries = 0
        self.growing: frozenset[str] = frozenset()
        self.grows: dict[str, int] = {}
        self.draws, self.is_bounded = 0, True
        self.way: list[nodes.Block] = []
        self.rests: list[nodes.Block] = []
        self.nothing: list[ast.Constant] = []

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is known so far, for :meth:`reset`."""
        names: tuple[str, ...] = type(self.shared).__match_args__
        shared = {name: getattr(self.shared, name) for name in names}
        own = {name: value for name, value in vars(self).items() if name != "shared"}
        return _copied(own), _copied(shared)

    def reset(self, state: tuple[dict[str, Any], dict[str, Any]]) -> None:
        """Forget what was found since."""
        own, shared = state
        vars(self).update(own)
        for name, value in shared.items():
            setattr(self.shared, name, value)

    @abstractmethod
    def look_at(self, *parts: Any) -> None:
        """Take note of what is in some statements."""

    @abstractmethod
    def body(self, block: nodes.Block) -> list[ast.stmt]:
        """Statements of a block."""

    # -- expressions -------------------------------------------------------------------------------
    def value(self, node: nodes.Expression) -> Made:
        """The number that an expression is."""
        match node:
            case nodes.Number(value=value, imaginary=False):
                fits = value == int(value) and abs(value) <= _WHOLE if abs(value) < 2e9 else False
                return Made(constant(value), "double", constant(int(value)) if fits else None)
            case nodes.Parenthesized():
                return self.value(node.expression)
            case nodes.Name():
                return self.variable(node.name, node.span)
            case nodes.End():
                return self.end(node)
            case nodes.Unary():
                return self.unary(node)
            case nodes.Binary():
                return self.binary(node)
            case nodes.ShortCircuit():
                return Made(self.truth_of(node), "logical")
            case nodes.Postfix():  # of a number
                return self.value(node.operand)
            case nodes.Index(target=nodes.Name(name=name)):
                return self.indexed(name, node)
        raise NotNative("an expression of another kind", node.span)

    def variable(self, name: str, span: Span) -> Made:
        """A number of a variable, or of a builtin without arguments."""
        if name in self.kinds:
            if self.known is not None and name not in self.known:
                raise NotNative(f"{name} may have no value", span)
            if name in self.counted and name not in self.around:
                raise NotNative(f"{name}, which may be empty, is read after its loop", span)
            if name in self.classes and not self.inside:
                self.shared.operand(f"v_{name}", Operand("value", name))
            return Made(load(f"v_{name}"), self.kinds[name], self.twins.get(name))
        if name in self.classes:
            raise NotNative(f"{name} is used as a whole array", span)
        if name in DRAWS and isinstance(self.shared.find(name, self.scope), Builtin):
            return self.drawn(name, span)
        if name in CONSTANTS and isinstance(self.shared.find(name, self.scope), Builtin):
            value = CONSTANTS[name]
            if isinstance(value, bool):
                return Made(constant(value=value), "logical")
            return Made(constant(value), "double")
        raise NotNative(f"{name} is no number", span)

    def drawn(self, name: str, span: Span) -> Made:
        """The next random number; those are drawn before the loop, which counts what it takes."""
        if self.inside:
            raise NotNative("random numbers in a function", span)
        numbers = self.shared.operand(name, Operand("draws", part=DRAWS[name]))
        self.shared.operand("drawn", Operand("constant", part=0))
        self.draws += 1
        self.is_bounded &= self.loops == 1
        return Made(self.float(ast.Subscript(numbers, self.next_draw(), ast.Load())), "double")

    def next_draw(self) -> ast.expr:
        """The place of the next random number, which is taken."""
        after = ast.BinOp(load("drawn"), ast.Add(), constant(1))
        taken = ast.NamedExpr(store("drawn"), after)
        return ast.Call(self.shared.basic("natural"), [plus(taken, -1)], [])

    def drawn_up_to(self, limit: Made, span: Span) -> Made:
        """``randi(limit)``."""
        if self.inside or limit.whole is None:
            raise NotNative("randi of a limit that may be no whole number", span)
        high = self.shared.operand("bits_high", Operand("draws", part="bits_high"))
        low = self.shared.operand("bits_low", Operand("draws", part="bits_low"))
        self.shared.operand("drawn", Operand("constant", part=0))
        self.draws += 1
        self.is_bounded &= self.loops == 1
        first = ast.Subscript(high, self.next_draw(), ast.Load())
        second = ast.Subscript(
            low, ast.Call(self.shared.basic("natural"), [plus(load("drawn"), -1)], []), ast.Load()
        )
        return self.called(up_to, first, second, limit.whole)

    def end(self, node: nodes.End) -> Made:
        if not self.ends:
            raise NotNative("end", node.span)
        name, at, count = self.ends[-1]
        return self.extent(name, at, count, node.span)

    def extent(self, name: str, at: int, count: int, span: Span) -> Made:
        """How far a subscript of an array may go."""
        found = self.classes[name]
        assert isinstance(found, ArrayClass), "it is indexed"
        if name in self.growing:
            part: ast.expr = load(f"m_{name}")
        elif count == 1:
            part = self.shared.operand(f"n_{name}", Operand("extent", name, None))
        elif count == found.axes:
            part = self.shared.operand(f"n{at}_{name}", Operand("extent", name, at))
        else:
            raise NotNative(f"{name} with {count} subscripts", span)
        return Made(self.float(part), "double", part)

    def unary(self, node: nodes.Unary) -> Made:
        if node.operator == "~":
            return Made(ast.UnaryOp(ast.Not(), self.truth_of(node.operand)), "logical")
        made = self.value(node.operand)
        if made.kind in NARROW:
            negative = node.operator == "-"
            return (
                self.narrowed(made.kind, ast.UnaryOp(ast.USub(), made.node)) if negative else made
            )
        if node.operator == "+":
            return Made(self.as_float(made), "double", made.whole)
        whole = None if made.whole is None else ast.UnaryOp(ast.USub(), made.whole)
        return Made(ast.UnaryOp(ast.USub(), self.as_float(made)), "double", whole)

    def binary(self, node: nodes.Binary) -> Made:
        if node.operator in ("&", "|"):
            both = ast.BitAnd() if node.operator == "&" else ast.BitOr()
            combined = ast.BinOp(self.truth_of(node.left), both, self.truth_of(node.right))
            return Made(ast.Call(self.shared.basic("bool"), [combined], []), "logical")
        left, right = self.value(node.left), self.value(node.right)
        if left.kind in NARROW or right.kind in NARROW:
            return self.narrow_binary(node, left, right)
        x, y = self.as_float(left), self.as_float(right)
        operator = node.operator
        if operator in COMPARISONS:
            if left.whole is not None and right.whole is not None:
                x, y = left.whole, right.whole
            return Made(ast.Compare(x, [COMPARISONS[operator]()], [y]), "logical")
        if operator in ARITHMETIC:
            made = ARITHMETIC[operator]()
            whole = None
            if left.whole is not None and right.whole is not None:
                small = not isinstance(made, ast.Mult) or _is_small(left.whole, right.whole)
                whole = ast.BinOp(left.whole, made, right.whole) if small else None
            return Made(ast.BinOp(x, made, y), "double", whole)
        if operator in ("/", "./"):
            return self.called(divide, x, y)
        if operator in ("\\", ".\\"):
            return self.called(divide, y, x)
        if operator in ("^", ".^"):
            if literal(node.right) == 2.0:
                return self.called(square, x)
            return self.called(power, x, y)
        raise NotNative(f"the operator {operator}", node.span)

    def narrow_binary(self, node: nodes.Binary, left: Made, right: Made) -> Made:
        """An operator of numbers of which one has a class that rounds."""
        kind, operator = narrow.common((left, right), node.span), node.operator
        x, y = self.narrow_operand(left, kind), self.narrow_operand(right, kind)
        if operator in COMPARISONS:
            return Made(ast.Compare(x, [COMPARISONS[operator]()], [y]), "logical")
        if operator in ARITHMETIC:
            return self.narrowed(kind, ast.BinOp(x, ARITHMETIC[operator](), y))
        if operator in ("/", "./"):
            return self.narrowed(kind, self.called(divide, x, y).node)
        raise NotNative(f"the operator {operator} of {kind}", node.span)

    def narrow_operand(self, made: Made, kind: Kind) -> ast.expr:
        """A number as an operand of an operation of a class that rounds."""
        if made.kind == kind:
            return made.node
        exact = self.as_float(made)
        return self.called(to_single, exact).node if kind == "single" else exact

    def narrowed(self, kind: Kind, value: ast.expr) -> Made:
        """A double, rounded to a number of a class."""
        if kind == "single":
            return Made(self.called(to_single, value).node, kind)
        low, high = map(constant, narrow.LIMITS[kind])
        return Made(self.called(saturated, value, low, high).node, kind)

    def narrow_builtin(self, name: str, numbers: Sequence[Made], span: Span) -> Made:
        """A builtin of numbers of which one has a class that rounds."""
        kind = narrow.common(numbers, span)
        known = narrow.functions_of(kind).get((name, len(numbers)))
        if known is None:
            raise NotNative(f"{name} of {kind}", span)
        if name == "bitshift":
            by, limit = self.as_float(numbers[1]), constant(narrow.LIMITS[kind][1] + 1.0)
            return self.narrowed(kind, self.called(known, numbers[0].node, by, limit).node)
        values = [
            each.node if each.kind == kind else self.number_of(each, kind) for each in numbers
        ]
        return self.narrowed(kind, self.called(known, *values).node)

    def number_of(self, made: Made, kind: Kind) -> ast.expr:
        """A double as a number of a class that rounds, which it must be if that is of integers."""
        if kind == "single":
            return self.narrow_operand(made, kind)
        low, high = map(constant, narrow.LIMITS[kind])
        return self.called(number_of, self.as_float(made), low, high).node

    def exact(self, made: Made) -> ast.expr:
        """A number, but for singles, as the double that it equals."""
        return made.node if made.kind in narrow.LIMITS else self.as_float(made)

    def called(self, function: Any, *args: ast.expr, logical: bool = False) -> Made:
        call = ast.Call(self.shared.function(function), list(args), [])
        return Made(call, "logical" if logical else "double")

    def condition(self, node: nodes.Expression) -> ast.expr:
        """What ``if`` and ``while`` ask; ``|`` and ``&`` of numbers stop early there."""
        while isinstance(node, nodes.Parenthesized):
            node = node.expression
        if isinstance(node, nodes.Binary) and node.operator in ("|", "&"):
            combines = ast.And() if node.operator == "&" else ast.Or()
            return ast.BoolOp(combines, [self.truth_of(node.left), self.truth_of(node.right)])
        return self.truth_of(node)

    def truth_of(self, node: nodes.Expression) -> ast.expr:
        """The truth value of a number; ``&&`` and ``||`` stop early."""
        while isinstance(node, nodes.Parenthesized):
            node = node.expression
        if isinstance(node, nodes.ShortCircuit):
            combines = ast.And() if node.operator == "&&" else ast.Or()
            return ast.BoolOp(combines, [self.truth_of(node.left), self.truth_of(node.right)])
        return self.truth(self.value(node))

    def truth(self, made: Made) -> ast.expr:
        """The truth value of a number; NaN has none."""
        if made.kind == "logical":
            return made.node
        if isinstance(made.node, ast.Constant) and made.node.value == made.node.value:
            return constant(value=bool(made.node.value))
        return self.called(is_true, made.node).node

    def as_float(self, made: Made) -> ast.expr:
        """A double or a truth value as a double.

        Raises:
            NotNative: it is of a class that rounds, which the result would have, too.

        """
        if made.kind in NARROW:
            raise NotNative(f"a number of class {made.kind} where a double is")
        return made.node if made.kind == "double" else self.float(made.node)

    def float(self, node: ast.expr) -> ast.expr:
        return ast.Call(self.shared.basic("float"), [node], [])

    def whole(self, node: nodes.Expression) -> ast.expr:
        """An integer; the loop leaves where an expression is none."""
        made = self.value(node)
        if made.whole is not None:
            return made.whole
        return ast.Call(self.shared.basic("whole"), [self.as_float(made)], [])

    # -- elements and calls ------------------------------------------------------------------------
    def indexed(self, name: str, node: nodes.Index) -> Made:
        """``name(arguments)``."""
        found = self.classes.get(name)
        if isinstance(found, ArrayClass):
            place = self.element(name, found, node.arguments, node.span)
            if found.kind == "logical":
                return Made(ast.Call(self.shared.basic("bool"), [place], []), "logical")
            return Made(self.float(place), found.kind)
        if isinstance(found, Handle):
            return self.of_handle(name, found, node)
        if name in self.kinds:
            raise NotNative(f"an element of {name}, which is a number", node.span)
        if isinstance(found, NamedFunction):
            return self.of_named(found.name, found.scope, node)
        if found is not None:
            raise NotNative(f"{name} is no array of numbers", node.span)
        return self.of_named(name, self.scope, node)

    def of_named(self, name: str, scope: Any, node: nodes.Index) -> Made:
        """A call of the function that has a name in the code of a file."""
        function = self.shared.find(name, scope)
        if isinstance(function, Builtin):
            return self.of_builtin(name, node)
        if isinstance(function, tuple) and isinstance(function[0], nodes.Function):
            return self.of_function(function[0], function[1], node)
        raise NotNative(f"a call of {name}", node.span)

    def element(
        self, name: str, found: ArrayClass, arguments: Sequence[nodes.Expression], span: Span
    ) -> ast.expr:
        """The element of an array at subscripts."""
        count = len(arguments)
        places: list[ast.expr] = []
        for at, argument in enumerate(arguments):
            self.ends.append((name, at, count))
            places.append(self.place(argument))
            self.ends.pop()
        if name in self.growing:
            if count != 1:
                raise NotNative(f"{name}, which grows, with {count} subscripts", span)
            room = self.shared.operand(f"l_{name}", Operand("room", name))
            inside = ast.Compare(places[0], [ast.Lt()], [load(f"m_{name}")])
            place = ast.Call(self.shared.basic("demand"), [inside, places[0]], [])
            return ast.Subscript(room, place, ast.Load())
        counts = self.subscripts.get(name, set())
        if counts <= {found.axes} and count == found.axes:
            array = self.shared.operand(f"a_{name}", Operand("data", name))
            return ast.Subscript(array, ast.Tuple(places[::-1], ast.Load()), ast.Load())
        line = self.shared.operand(f"l_{name}", Operand("line", name))
        if count == 1:
            return ast.Subscript(line, places[0], ast.Load())
        if count != found.axes:
            raise NotNative(f"{name} with {count} subscripts", span)
        index: ast.expr | None = None
        for at in range(count - 1, -1, -1):
            extent = self.shared.operand(f"n{at}_{name}", Operand("extent", name, at))
            inside = ast.Compare(places[at], [ast.Lt()], [extent])
            within = ast.Call(self.shared.basic("demand"), [inside, places[at]], [])
            pages = None if index is None else ast.BinOp(extent, ast.Mult(), index)
            index = within if pages is None else ast.BinOp(within, ast.Add(), pages)
        assert index is not None, "there are subscripts"
        return ast.Subscript(line, index, ast.Load())

    def place(self, node: nodes.Expression) -> ast.expr:
        """A subscript, counted from 0."""
        made = self.value(node)
        if made.kind in ("logical", "single"):
            raise NotNative(f"a number of class {made.kind} as a subscript", node.span)
        if made.whole is not None:
            return ast.Call(self.shared.basic("natural"), [plus(made.whole, -1)], [])
        return ast.Call(self.shared.basic("position"), [made.node], [])

    def of_builtin(self, name: str, node: nodes.Index) -> Made:
        arguments, span = node.arguments, node.span
        if arguments and isinstance(arguments[0], nodes.Name):
            found = self.classes.get(arguments[0].name)
            if isinstance(found, ArrayClass):
                return self.size(name, arguments[0].name, found, arguments[1:], span)
        if name in DRAWS and not arguments:
            return self.drawn(name, span)
        if name == "randi" and len(arguments) == 1:
            return self.drawn_up_to(self.value(arguments[0]), span)
        known = FUNCTIONS.get((name, len(arguments)))
        if (name == "double" or name in NARROW) and len(arguments) == 1:
            return self.converted(name, self.value(arguments[0]))
        if known is None and name != "idivide":
            raise NotNative(f"a call of {name}", span)
        numbers = [self.value(argument) for argument in arguments]
        if name != "logical" and any(each.kind in NARROW for each in numbers):
            return self.narrow_builtin(name, numbers, span)
        if known is None:
            raise NotNative(f"{name} of doubles", span)
        if name == "logical":
            return Made(self.truth(numbers[0]), "logical")
        integers = [each.whole for each in numbers if each.whole is not None]
        if name == "mod" and len(integers) == 2:
            return self.called(modulo_of_whole, *integers)
        values = [self.as_float(each) for each in numbers]
        return self.called(known.function, *values, logical=known.logical)

    def converted(self, name: str, made: Made) -> Made:
        """A number as one of another class."""
        exact = made.node if made.kind in NARROW else self.as_float(made)
        if name == "double":
            return Made(exact, "double", made.whole)
        return made if made.kind == name else self.narrowed(NARROW[name], exact)

    def size(
        self,
        name: str,
        array: str,
        found: ArrayClass,
        rest: Sequence[nodes.Expression],
        span: Span,
    ) -> Made:
        """``numel(x)``, ``length(x)`` of a line of numbers, ``size(x, 1)``."""
        if name == "numel" and not rest:
            return self.extent(array, 0, 1, span)
        if name == "length" and not rest and array in self.growing:
            return self.extent(array, 0, 1, span)
        if name == "length" and not rest:
            part = self.shared.operand(f"longest_{array}", Operand("extent", array, "longest"))
            return Made(self.float(part), "double", part)
        axis = literal(rest[0]) if name == "size" and len(rest) == 1 else None
        if array in self.growing:
            raise NotNative(f"the size of {array}, which grows", span)
        if axis is not None and axis == int(axis) and 1 <= axis <= found.axes:
            return self.extent(array, int(axis) - 1, found.axes, span)
        raise NotNative(f"a call of {name} on {array}", span)

    def of_handle(self, name: str, handle: Handle, node: nodes.Index) -> Made:
        """A call of an anonymous function."""
        if len(handle.parameters) != len(node.arguments):
            raise NotNative(f"{name} is called with other arguments", node.span)
        made = [self.value(argument) for argument in node.arguments]
        kinds = tuple(each.kind for each in made)
        key = name, kinds
        if key not in self.shared.inlined:
            inner = self.callee(handle.scope, dict(zip(handle.parameters, kinds, strict=True)))
            inner.classes = {**inner.classes, **dict(handle.others)}
            captured = dict[str, str]()
            for part, kind in handle.captured:
                if part in inner.kinds:
                    continue
                inner.kinds[part] = kind
                inner.known = {*(inner.known or ()), part}
                operand = f"c_{name}_{part}"
                self.shared.operand(operand, Operand("captured", name, part))
                captured[f"v_{part}"] = operand
            with _deeper(self.shared, node.span):
                result = inner.value(handle.body)
            body: list[ast.stmt] = [at_line(ast.Return(result.node))]
            self.inline(key, handle.parameters, body, result.kind, captured)
        function, kind = self.shared.inlined[key]
        return Made(ast.Call(load(function), [each.node for each in made], []), kind)

    def of_function(self, function: nodes.Function, scope: Any, node: nodes.Index) -> Made:
        """A call of a function of the program's."""
        check_signature(function, scope, len(node.arguments), node.span)
        made = [self.value(argument) for argument in node.arguments]
        kinds = tuple(each.kind for each in made)
        key = id(function), kinds
        if id(function) in self.shared.callers:
            raise RecursiveError(f"{function.name} calls itself", node.span)
        if key not in self.shared.inlined:
            inner = self.callee(scope, dict(zip(function.inputs, kinds, strict=True)))
            (inner.output,) = function.outputs
            inner.look_at(function.body)
            with _deeper(self.shared, node.span, id(function)):
                body = inner.body(function.body)
                if inner.known is not None:
                    result = inner.variable(inner.output, node.span)
                    body.append(at_line(ast.Return(result.node)))
            if inner.output not in inner.kinds:
                raise NotNative(f"{function.name} gives nothing", node.span)
            kind = inner.kinds[inner.output]
            for each in inner.nothing:
                each.value = False if kind == "logical" else 0.0
            self.inline(key, function.inputs, body, kind, {})
        name, kind = self.shared.inlined[key]
        return Made(ast.Call(load(name), [each.node for each in made], []), kind)

    def callee(self, scope: Any, kinds: Mapping[str, Kind]) -> Expressions:
        """What translates a function that is called."""
        classes = {name: NumberClass(kind) for name, kind in kinds.items()}
        return type(self)(self.shared, scope, classes, inside=True)

    def inline(
        self,
        key: Any,
        parameters: Sequence[str],
        body: list[ast.stmt],
        kind: Kind,
        captured: Mapping[str, str],
    ) -> None:
        """Make a function that loops may call."""
        name = f"function_{len(self.shared.inlined)}"
        called = _Inlined()
        names = tuple(f"v_{parameter}" for parameter in parameters)
        source = HelperSource(names, tuple(body), (), {})
        self.shared.objects[name] = called
        self.shared.helpers[called] = Helper(source, {})
        self.shared.captured[called] = captured
        self.shared.inlined[key] = name, kind


def check_signature(function: nodes.Function, scope: Any, count: int, span: Span) -> None:
    """Refuse functions that are more than a value of so many numbers.

    Raises:
        NotNative: a call of it is interpreted.

    """
    if len(function.inputs) != count or len(function.outputs) != 1:
        raise NotNative(f"{function.name} is called with other arguments", span)
    if "varargin" in function.inputs or "varargout" in function.outputs:
        raise NotNative(f"{function.name} takes or gives lists of values", span)
    if function.nested or function.arguments or function.name in scope.enclosing:
        raise NotNative(f"{function.name} shares variables, or checks arguments", span)


class _Inlined:
    """Stands for a function of the program's, in what a loop calls."""


@slotted
class _deeper:  # noqa: N801  (used as a function)
    shared: Shared
    span: Span
    function: int | None = None

    def __enter__(self) -> None:
        if len(self.shared.callers) >= _DEPTH:
            raise NotNative("functions that call each other", self.span)
        self.shared.callers.append(self.function)

    def __exit__(self, *_: object) -> None:
        self.shared.callers.pop()


def _copied(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values by name, of which those that change are copied."""
    return {
        name: copy(value) if isinstance(value, dict | list | set) else value
        for name, value in values.items()
    }


def literal(node: nodes.Expression) -> float | None:
    """The number that is written in the program."""
    if isinstance(node, nodes.Parenthesized):
        return literal(node.expression)
    if isinstance(node, nodes.Unary) and node.operator == "-":
        operand = literal(node.operand)
        return None if operand is None else -operand
    return node.value if isinstance(node, nodes.Number) and not node.imaginary else None


def _is_small(*factors: ast.expr) -> bool:
    """True if a product of whole numbers is one of doubles."""
    values = (each.value for each in factors if isinstance(each, ast.Constant))
    return any(isinstance(value, int) and abs(value) <= 1 << 16 for value in values)


def plus(node: ast.expr, by: int) -> ast.expr:
    """An integer and another one that is known."""
    match node:
        case ast.Constant(value=int(value)):
            return constant(value + by)
        case ast.BinOp(left=left, op=ast.Add(), right=ast.Constant(value=int(value))):
            return plus(left, value + by)
        case ast.BinOp(left=left, op=ast.Sub(), right=ast.Constant(value=int(value))):
            return plus(left, by - value)
    if by == 0:
        return node
    return ast.BinOp(node, ast.Add() if by > 0 else ast.Sub(), constant(abs(by)))


def constant(value: float | bool) -> ast.Constant:  # noqa: FBT001  (what is written)
    return ast.Constant(value)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def store(name: str) -> ast.Name:
    return ast.Name(name, ast.Store())


def at_line(statement: Any) -> Any:
    """A statement as :mod:`ast` wants it."""
    statement.lineno, statement.col_offset = 1, 0
    return statement


COMPARISONS: Final[Mapping[str, type[ast.cmpop]]] = {
    "==": ast.Eq,
    "~=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
}
ARITHMETIC: Final[Mapping[str, type[ast.operator]]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    ".*": ast.Mult,
}
