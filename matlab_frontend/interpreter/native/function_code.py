"""Functions of numbers as functions of Python's, with those that they call, themselves included."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Final

from matlab_frontend import nodes
from matlab_frontend.interpreter.calls import RECURSION_LIMIT
from matlab_frontend.interpreter.captures import below
from matlab_frontend.interpreter.native import functions
from matlab_frontend.interpreter.native.classes import NARROW, Kind, Made, NotNative
from matlab_frontend.interpreter.native.expressions import (
    Find,
    Shared,
    at_line,
    check_signature,
    constant,
    load,
    plus,
)
from matlab_frontend.interpreter.native.plain import PLAIN, leave
from matlab_frontend.interpreter.native.translate import Translator
from matlab_frontend.source import Span
from runmat_jit.core.slotted import slotted, slotted_object

TURNS: Final = 2000
"""Iterations of a loop after which the interpreter goes on, whose loops may run natively."""
_EXACT: Final = 2.0**52
"""Doubles below have remainders that are exact."""
FUNCTIONS: Final = 32
"""Functions that are compiled with one that calls them."""


class MistakenError(Exception):
    """A function that calls itself gives a number of another class than was assumed."""


@slotted_object
class Assumption:
    """The class of what functions give that are being translated.

    ``used`` are those of which it has been asked.
    """

    kind: Kind
    used: set[Any] = field(default_factory=set)


@slotted
class Code(Shared):
    """What is made: functions of Python's by their names, and what they call."""

    made: dict[str, ast.stmt] = field(default_factory=dict)
    running: dict[Any, str] = field(default_factory=dict)
    """Functions that are being translated."""
    assumption: Assumption = field(default_factory=lambda: Assumption("double"))

    def function(self, function: Any) -> ast.expr:
        """A function of :mod:`.functions`, as Python runs it."""
        self.objects[function.__name__] = PLAIN.get(function, function)
        return load(function.__name__)

    def leave(self) -> ast.expr:
        """The call that lets the interpreter go on."""
        self.objects["leave"] = leave
        return ast.Call(load("leave"), [], [])

    def guard(self) -> ast.stmt:
        """Leaves where MATLAB allows no further call within the others."""
        too_deep = ast.Compare(load("depth"), [ast.GtE()], [constant(RECURSION_LIMIT)])
        return ast.If(too_deep, [ast.Expr(self.leave())], [])


def compile_function(
    function: nodes.Function, scope: Any, kinds: tuple[Kind, ...], find: Find
) -> Callable[..., float | bool]:
    """The function for numbers of these classes.

    It is called with the calls that run already, and the numbers. Where MATLAB does something that
    is not written there it raises ``NotMetError``, ``ArithmeticError`` or ``ValueError``; then
    nothing has happened.

    Raises:
        NotNative: it is interpreted.

    """
    for assumed in ("double", "logical"):
        code = Code(find, assumption=Assumption(assumed))
        caller = FunctionTranslator(code, scope, {}, inside=True)
        try:
            name, kind = caller.define(function, scope, kinds, function.span)
        except MistakenError:
            continue
        if kind in NARROW:
            raise NotNative(f"{function.name} gives a number of class {kind}", function.span)
        module = ast.fix_missing_locations(ast.Module(list(code.made.values()), []))
        space = dict(code.objects)
        exec(compile(module, f"<{function.name}>", "exec"), space)  # noqa: S102  (made above)
        return space[name]  # type: ignore[no-any-return]  # it is defined there
    raise NotNative(f"{function.name} gives numbers of several classes", function.span)


class FunctionTranslator(Translator):
    """Translates a function that Python runs."""

    # -- functions ---------------------------------------------------------------------------------
    @property
    def code(self) -> Code:
        """What is made."""
        assert isinstance(self.shared, Code), "it is made by this module"
        return self.shared

    def of_function(self, function: nodes.Function, scope: Any, node: nodes.Index) -> Made:
        """A call of a function of the program's."""
        made = [self.value(argument) for argument in node.arguments]
        name, kind = self.define(function, scope, tuple(each.kind for each in made), node.span)
        depth = plus(load("depth"), 1)
        return Made(ast.Call(load(name), [depth, *[each.node for each in made]], []), kind)

    def define(
        self, function: nodes.Function, scope: Any, kinds: tuple[Kind, ...], span: Span
    ) -> tuple[str, Kind]:
        """The name of a function of Python's, and the class of what it gives."""
        code, key = self.code, (id(function), kinds)
        if key in code.running:
            code.assumption.used.add(key)
            return code.running[key], code.assumption.kind
        if key not in code.inlined:
            check_signature(function, scope, len(kinds), span)
            if len(code.made) + len(code.running) >= FUNCTIONS:
                raise NotNative("too many functions that call each other", span)
            name = f"f{len(code.made) + len(code.running)}_{function.name}"
            code.running[key] = name
            inner = self.callee(scope, dict(zip(function.inputs, kinds, strict=True)))
            assert isinstance(inner, FunctionTranslator), "it is of the same class"
            (inner.output,) = function.outputs
            body = inner.statements_of(function)
            del code.running[key]
            kind = inner.kinds[inner.output]
            if key in code.assumption.used and kind != code.assumption.kind:
                raise MistakenError
            code.made[name] = _definition(name, function.inputs, [code.guard(), *body])
            code.inlined[key] = name, kind
        return code.inlined[key]

    def statements_of(self, function: nodes.Function) -> list[ast.stmt]:
        """The body of a function, which returns the output."""
        loops = [
            each for each in below(*function.body) if isinstance(each, nodes.For | nodes.While)
        ]
        if any(
            isinstance(each, nodes.For | nodes.While) for loop in loops for each in below(loop.body)
        ):
            raise NotNative(f"{function.name} has a loop in a loop, which may run natively itself")
        self.look_at(function.body)
        body = self.body(function.body)
        if self.known is not None:
            result = self.variable(self.output, function.span)
            body.append(at_line(ast.Return(result.node)))
        if self.output not in self.kinds:
            raise NotNative(f"{function.name} gives nothing", function.span)
        return body

    # -- statements --------------------------------------------------------------------------------
    def statement_or_exit(self, node: nodes.Statement) -> list[ast.stmt]:
        """A statement; where one that is not known stands in a branch, the function is left."""
        if len(self.way) == 1:
            return self.statement(node)
        before = self.state()
        try:
            return self.statement(node)
        except NotNative:
            self.reset(before)
        self.known = None
        return [ast.Expr(self.code.leave())]

    def statement(self, node: nodes.Statement) -> list[ast.stmt]:
        if isinstance(node, nodes.Return):
            returned = self.variable(self.output, node.span)
            self.known = None
            return [ast.Return(returned.node)]
        return super().statement(node)

    def for_(self, node: nodes.For) -> list[ast.stmt]:
        """A loop of few iterations."""
        (loop,) = super().for_(node)
        assert isinstance(loop, ast.For), "it is one"
        self.code.objects["few"] = few
        loop.iter = ast.Call(load("few"), [loop.iter], [])
        return [loop]

    def while_(self, node: nodes.While) -> list[ast.stmt]:
        """A loop of few iterations: a ``for`` that ends where the condition does not hold."""
        (loop,) = super().while_(node)
        assert isinstance(loop, ast.While), "it is one"
        self.temporaries += 1
        ends = ast.If(ast.UnaryOp(ast.Not(), loop.test), [ast.Break()], [])
        turns = ast.Call(self.shared.basic("range"), [constant(TURNS)], [])
        target = ast.Name(f"turn_{self.temporaries}", ast.Store())
        return [ast.For(target, turns, [ends, *loop.body], [ast.Expr(self.code.leave())])]

    # -- expressions -------------------------------------------------------------------------------
    def called(self, function: Any, *args: ast.expr, logical: bool = False) -> Made:
        """A call of a function of :mod:`.functions`, written out where that is short."""
        match function, args:
            case functions.modulo_of_whole, _:  # Python's remainder of doubles has its sign
                return self.called(functions.modulo, *[self.as_double(each) for each in args])
            case functions.square, (ast.Name() as x,):
                return Made(ast.BinOp(x, ast.Mult(), x), "double")
            case functions.divide, (x, ast.Constant(value=float(value)) as y) if value:
                return Made(ast.BinOp(x, ast.Div(), y), "double")
            case functions.modulo, (ast.Name() as x, ast.Constant(value=float(value)) as y) if (
                value and value.is_integer()
            ):
                limits = [constant(-_EXACT), constant(_EXACT)]
                exact = ast.Compare(limits[0], [ast.Lt(), ast.Lt()], [x, limits[1]])
                return Made(
                    ast.IfExp(exact, ast.BinOp(x, ast.Mod(), y), self.code.leave()), "double"
                )
            case functions.divide, (x, ast.Name() as y):
                otherwise = super().called(function, x, y).node
                return Made(ast.IfExp(y, ast.BinOp(x, ast.Div(), y), otherwise), "double")
        return super().called(function, *args, logical=logical)

    def as_double(self, whole: ast.expr) -> ast.expr:
        """An integer as a double."""
        if isinstance(whole, ast.Constant):
            return constant(float(whole.value))  # type: ignore[arg-type]  # it is an integer
        return self.float(whole)


def few(turns: range) -> range:
    """The iterations of a loop, which are so few that Python runs it.

    Raises:
        NotMetError: they are more.

    """
    return turns if len(turns) <= TURNS else leave()


def _definition(name: str, inputs: Sequence[str], body: list[ast.stmt]) -> ast.stmt:
    """A function of Python's; inputs that are not used have names, too."""
    (made,) = ast.parse(f"def {name}(depth): pass").body
    assert isinstance(made, ast.FunctionDef), "it is written above"
    names = (
        f"unused_{n}" if each == nodes.IGNORED else f"v_{each}" for n, each in enumerate(inputs)
    )
    made.args.args += [ast.arg(each) for each in names]
    made.body = body
    return made
