"""Loop statements that may run natively, as their syntax tells: what they read, and what they bind.

A loop qualifies if every node in it is one that :mod:`.statements` may know, if nobody can see how
far it had come when it ends early (it stands in no ``try``, and its function is no generator), and
if it waits for nobody: what it reads of the world, it reads once.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import math
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.generators import DRAWS
from runmat_jit.loops.comprehensions import is_own_name, with_own_names
from runmat_jit.loops.liveness import live_after, loads, read_early
from runmat_jit.loops.returns import (
    EXIT,
    Loop,
    may_move,
    returns_in,
    without_returns,
)

_KNOWN = (
    *(ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While),
    *(ast.Break, ast.Continue, ast.Pass, ast.Expr, ast.Return, ast.Raise, ast.Assert),
    *(ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp),
    *(
        ast.Subscript,
        ast.Attribute,
        ast.Call,
        ast.keyword,
        ast.Tuple,
        ast.List,
        ast.NamedExpr,
        ast.Slice,
    ),
    *(ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
    *(ast.GeneratorExp, ast.ListComp, ast.comprehension),
)
_UNKNOWN_OPERATORS = (ast.In, ast.NotIn)
_OF_IDENTITY = (ast.Is, ast.IsNot)
_HIDING = (ast.Try, ast.TryStar, ast.AsyncFor, ast.AsyncWith)
"""Statements after which the program may look at what a loop within them had done."""
_INTO = ("fill", "fill_diagonal", "clip", "matmul", "sort", "shuffle")
"""Methods and functions that store into an array, besides ufuncs."""
_NO_OBJECTS = (list, dict, set, str, np.ndarray, np, math)
"""Classes and modules whose methods and functions are known: a call of one is no method of the
program's."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


@frozen
class Chain:
    """A name and attributes that are read of it, as in ``self.rate``: where a value is found."""

    name: str
    attributes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *self.attributes))


@frozen_object
class LoopSource:
    """A loop statement that may run natively.

    Attributes:
        node: The statement, which ends by ``break`` where it returns.
        chains: What it reads, or may read, of what was bound before.
        assigned: The names that it binds.
        results: Those of them that the function may read after it, in the order of their names.
        outside: Where names that are no variables of the function are found: ``glob`` or ``free``.
        grown: Its names of what it appends to.
        returns: Its ``return`` statements; with some, :data:`.returns.EXIT` is among the results.
        returned: Names that these alone read, and are bound by then.

    """

    node: Loop
    chains: tuple[Chain, ...]
    assigned: frozenset[str]
    results: tuple[str, ...]
    outside: Mapping[str, str]
    grown: frozenset[str] = frozenset()
    returns: tuple[ast.Return, ...] = ()
    returned: frozenset[str] = frozenset()

    @property
    def is_while(self) -> bool:
        """True if it is a ``while`` statement."""
        return isinstance(self.node, ast.While)

    @property
    def line(self) -> int:
        """Line of the statement."""
        return self.node.lineno

    @property
    def position(self) -> tuple[int, int]:
        """Line and column of the statement."""
        return self.node.lineno, self.node.col_offset

    def is_within(self, other: LoopSource) -> bool:
        """Return True if it stands in another loop of the function."""
        inner = (each for each in ast.walk(other.node) if isinstance(each, Loop))
        positions = [(each.lineno, each.col_offset) for each in inner if each is not other.node]
        return self.position in positions


@frozen_object
class HelperSource:
    """A function of the program's that a loop may call: its parameters, its body, what it reads.

    ``chains`` and ``outside`` as of loops, of what is no variable of its own. ``positional``: how
    many of the parameters are given by position alone; ``defaults``: those that have a default.
    ``inner``: it is defined within a function of the program's that is compiled.
    """

    parameters: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    chains: tuple[Chain, ...]
    outside: Mapping[str, str]
    positional: int = 0
    defaults: tuple[str, ...] = ()
    inner: bool = False


@frozen
class Given:
    """Stands for the operand of this chain."""

    chain: Chain


@frozen
class OfProgram:
    """A function or a class of the program's, as loops that outlive it know it.

    A session keeps its loops: by the function itself it would keep the module alive. ``number``
    tells functions of one code apart, which may read other variables.
    """

    __name__: str
    code: types.CodeType | None = None
    number: int = -1


@frozen_object
class Helper:
    """A function of the program's, with what it reads from outside: operands and objects."""

    source: HelperSource
    values: Mapping[Chain, Any]


def find_helper(node: ast.AST, where: Callable[[str], str]) -> HelperSource | None:
    """A function as loops may call it; None where its syntax is not known here.

    ``where`` as of :func:`find_loops`, in that function.
    """
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        return None
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs:
        return None
    body = [ast.Return(node.body)] if isinstance(node, ast.Lambda) else node.body
    body = [with_own_names(each) for each in body]
    outer = ast.Module(list(body), [])
    if not all(is_known(each) for statement in body for each in run_by(statement)):
        return None
    if waits(outer, where):
        return None
    chains = tuple(
        [c for c in _chains(outer) if where(c.name) != "local" and not is_own_name(c.name)]
    )
    parameters = tuple([arg.arg for arg in (*args.posonlyargs, *args.args)])
    outside = {chain.name: where(chain.name) for chain in chains}
    defaults = parameters[len(parameters) - len(args.defaults) :]
    return HelperSource(parameters, tuple(body), chains, outside, len(args.posonlyargs), defaults)


@functools.cache  # a memo of what is written in our own modules
def helper_of(function: types.FunctionType) -> Helper:
    """A function of ours as loops call it, of which each construct is known."""
    node = ast.parse(inspect.getsource(function)).body[0]
    names = set(function.__code__.co_varnames)
    source = find_helper(node, lambda name: "local" if name in names else "glob")
    assert source is not None, "it is written for that"
    space, values = {**vars(builtins), **function.__globals__}, dict[Chain, Any]()
    for chain in source.chains:
        value = space[chain.name]
        for attribute in chain.attributes:
            value = getattr(value, attribute)
        values[chain] = value
    for name, value in zip(source.defaults, function.__defaults__ or (), strict=True):
        values[default_of(name)] = value
    return Helper(source, values)


def default_of(name: str) -> Chain:
    """Return the chain under which a function's default of a parameter is known."""
    return Chain("<defaults>", (name,))


def returns(body: Sequence[ast.stmt]) -> bool:
    """True if statements return whatever happens in them."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return returns(last.body) and returns(last.orelse)
    return isinstance(last, ast.Return)


def find_loops(function: ast.AST, where: Callable[[str], str]) -> dict[ast.AST, LoopSource]:
    """The loops of a function that may run natively, by their statements.

    Args:
        function: Definition of the function.
        where: Where a name is found: ``local``, ``glob`` or ``free``.

    """
    nodes = list(_within(function))
    if any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in nodes):
        return {}
    declared = {
        name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names
    }
    found: dict[ast.AST, LoopSource] = {}
    live = live_after(function)
    for node in _not_hidden(function):
        if isinstance(node, ast.For | ast.While) and qualifies(node):
            own = with_own_names(node)
            returns, ended = tuple(returns_in(node)), without_returns(own)
            assigned = bound_by(ended)
            if assigned & declared or waits(own, where):
                continue
            read_later = live[node] & assigned
            read_last = assigned.intersection(name for each in returns for name in loads(each))
            returned = read_last - read_later - read_early(node)
            chains = tuple([chain for chain in _chains(ended) if chain.name != EXIT])
            names = [chain.name for chain in chains if not is_own_name(chain.name)]
            outside = {name: where(name) for name in names if where(name) != "local"}
            results = (*sorted(read_later | read_last), *([EXIT] if returns else []))
            grown = frozenset(grown_by(node).difference(outside))
            found[node] = LoopSource(
                ended, chains, assigned, results, outside, grown, returns, frozenset(returned)
            )
    return found


def refused_loops(function: ast.AST, found: Mapping[ast.AST, LoopSource]) -> dict[int, str]:
    """The other loops of a function, by line: the construct that keeps each in Python."""
    return {
        node.lineno: construct_of(node)
        for node in _within(function)
        if isinstance(node, ast.For | ast.While) and node not in found
    }


def construct_of(loop: Loop) -> str:
    """The first construct of a loop that does not run natively, with its line."""
    for node in run_by(loop, returned=False):
        if node is not loop and not is_known_in_loop(node):
            name = _NAMES.get(type(node), type(node).__name__.lower())
            line = getattr(node, "lineno", loop.lineno)
            return f"{name} (line {line})"
    if loop.orelse:
        return f"an `else` (line {loop.orelse[0].lineno})"
    if not any(isinstance(node, ast.Assign | ast.AugAssign) for node in ast.walk(loop)):
        return "it assigns nothing"
    return "what ends it, or what it assigns, may be changed or looked at from elsewhere"


_NAMES: Final = {
    ast.Expr: "a call as a statement",
    ast.Call: "a call with `**`",
    ast.Try: "`try`",
    ast.With: "`with`",
    ast.Yield: "`yield`",
    ast.YieldFrom: "`yield from`",
    ast.Return: "`return` of a comprehension or of a lambda",
    ast.Delete: "`del`",
    ast.Compare: "`is` or `is not`",
    ast.In: "`in`",
    ast.NotIn: "`not in`",
    ast.Dict: "a dict",
    ast.Set: "a set",
    ast.SetComp: "a set comprehension",
    ast.DictComp: "a dict comprehension",
    ast.JoinedStr: "an f-string",
    ast.FunctionDef: "a function definition",
    ast.Lambda: "a lambda",
    ast.Starred: "`*` in a call or a display",
}
"""Constructs, as explanations name them."""


def qualifies(loop: Loop) -> bool:
    """True if all of a loop is syntax that may run natively, and some of it does something."""
    if not any(isinstance(node, ast.Assign | ast.AugAssign) for node in ast.walk(loop)):
        acts = grown_by(loop) or any(procedures_in(loop))
        if not acts and not returns_in(loop):
            return False
    return all(map(is_known_in_loop, run_by(loop, returned=False)))


def is_known_in_loop(node: ast.AST) -> bool:
    """Return True if a node, by itself, may be one of a loop that runs natively."""
    return may_move(node) if isinstance(node, ast.Return) else is_known(node)


def run_by(node: ast.AST, *, returned: bool = True) -> Iterator[ast.AST]:
    """The nodes of a statement, but for those that make the exceptions which it raises.

    ``returned``: with those of the values that it returns.
    """
    yield node
    if returned or not isinstance(node, ast.Return):
        for child in children_of(node):
            yield from run_by(child, returned=returned)


def children_of(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes in a node, but for those that make an exception."""
    if isinstance(node, ast.Raise):
        return iter(())
    return iter([node.test]) if isinstance(node, ast.Assert) else ast.iter_child_nodes(node)


def waits(node: ast.AST, where: Callable[[str], str]) -> bool:
    """True if a loop in a node may end by what only others change: a name, an attribute, an item.

    ``where`` as of :func:`find_loops`.
    """
    for loop in ast.walk(node):
        if not isinstance(loop, Loop):
            continue
        tests = [loop.test] if isinstance(loop, ast.While) else []
        tests += [each.test for each in ast.walk(loop) if isinstance(each, ast.If) and _ends(each)]
        tests += [each.test for each in ast.walk(loop) if isinstance(each, ast.Assert)]
        changed = bound_by(loop) | _stored_to(loop) | grown_by(loop)
        for call in procedures_in(loop):
            changed |= {each.id for each in ast.walk(call) if isinstance(each, ast.Name)}
        for term in [term for test in tests for term in _terms(test)]:
            parts = [*_read_by(term)]
            names = {each.id for each in parts if isinstance(each, ast.Name)}
            if names and not names & changed and _is_of_the_world(parts, names, where):
                return True
    return False


def _ends(statement: ast.If) -> bool:
    """True if a loop, or a function, ends in one of the branches."""
    ends = ast.Break | ast.Return | ast.Raise
    return any(isinstance(each, ends) for each in ast.walk(statement))


def _terms(test: ast.expr) -> Iterator[ast.expr]:
    """The conditions that a test combines."""
    match test:
        case ast.BoolOp(values=values):
            for value in values:
                yield from _terms(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _terms(operand)
        case _:
            yield test


def _stored_to(loop: Loop) -> set[str]:
    """The names of what items are stored to."""
    items = (each for each in ast.walk(loop) if isinstance(each, ast.Subscript))
    stored = (each.value for each in items if isinstance(each.ctx, ast.Store))
    return {each.id for value in stored for each in ast.walk(value) if isinstance(each, ast.Name)}


def _read_by(term: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a condition, but for generators that it draws from: a draw changes them."""
    yield term
    for child in ast.iter_child_nodes(term):
        if not (isinstance(term, ast.Call) and child is term.func and is_draw(term)):
            yield from _read_by(child)


def _is_of_the_world(
    parts: Sequence[ast.AST], names: set[str], where: Callable[[str], str]
) -> bool:
    """True if others may change what a condition says, although nothing here does."""
    if any(where(name) != "local" for name in names):
        return True
    return any(isinstance(each, ast.Subscript | ast.Attribute) for each in parts)


def is_draw(call: ast.Call) -> bool:
    """True if a call, if it is one that loops run natively, draws a random number."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in DRAWS


def is_known(node: ast.AST) -> bool:
    """True if a node, by itself, is of syntax that may run natively."""
    match node:
        case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]) | ast.Return(value=None):
            return False
        case ast.Expr(value=value):
            acts = appended(value) is not None or is_procedure(value)
            return acts or isinstance(value, ast.Constant)
        case ast.Compare(left, ops, [other, *_]) if any(isinstance(op, _OF_IDENTITY) for op in ops):
            return len(ops) == 1 and isinstance(left, ast.Name) and isinstance(other, ast.Name)
        case ast.Call(keywords=keywords) if any(each.arg is None for each in keywords):
            return False
        case ast.Name(id=name) | ast.Attribute(attr=name) if is_private(name):
            return False
        case ast.comprehension(is_async=is_async):
            return not is_async
        case ast.Constant(value=value):
            return type(value) in (bool, int, float, complex, str, type(None), type(Ellipsis))
    return isinstance(node, _KNOWN) and not isinstance(node, _UNKNOWN_OPERATORS)


def appended(node: ast.expr) -> tuple[ast.Name, ast.expr] | None:
    """The list and the item of ``xs.append(x)``; None of any other expression."""
    match node:
        case ast.Call(func=ast.Attribute(ast.Name() as name, "append"), args=[item], keywords=[]):
            return None if isinstance(item, ast.Starred) else (name, item)
    return None


def is_procedure(node: ast.expr) -> bool:
    """Return True if a call as a statement may run natively: it changes what it is given.

    It is one of a function of the program's, of a ufunc into an array, or ``x.fill(value)``; a
    method of an object of the program's, which only the class can tell.
    """
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return not hasattr(builtins, name)
        case ast.Call(func=ast.Attribute(value=base, attr=name)):
            if name in _INTO or isinstance(getattr(np, name, None), np.ufunc):
                return True
            others = name in DRAWS or any(hasattr(c, name) for c in _NO_OBJECTS)
            return isinstance(base, ast.Name) and not others
    return False


def procedures_in(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the calls as statements in a node that may run natively."""
    for each in ast.walk(node):
        if isinstance(each, ast.Expr) and is_procedure(each.value):
            yield each.value


def grown_by(node: ast.AST) -> set[str]:
    """The names of what a statement appends to."""
    values = (each.value for each in ast.walk(node) if isinstance(each, ast.Expr))
    return {found[0].id for value in values if (found := appended(value)) is not None}


def is_private(name: str) -> bool:
    """True if a class around the function would give the name another form."""
    return name.startswith("__") and not name.endswith("__")


@functools.lru_cache(512)
def bound_by(node: ast.AST) -> frozenset[str]:
    """The names that a statement binds."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return frozenset(each.id for each in names if isinstance(each.ctx, ast.Store))


def rebound_by(node: ast.AST) -> frozenset[str]:
    """The names that a statement binds by more than operations in place."""
    in_place = {id(each.target) for each in ast.walk(node) if isinstance(each, ast.AugAssign)}
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    stored = (each for each in names if isinstance(each.ctx, ast.Store))
    return frozenset(each.id for each in stored if id(each) not in in_place)


def _within(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes in it."""
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))


def _not_hidden(function: ast.AST) -> Iterator[ast.AST]:
    pending = list(ast.iter_child_nodes(function))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*_SCOPES, *_HIDING)):
            pending.extend(ast.iter_child_nodes(node))


def _chains(loop: ast.AST) -> tuple[Chain, ...]:
    """The longest chains of attributes that a loop reads, each once, in its order."""
    found: dict[Chain, None] = {}

    def visit(node: ast.AST) -> None:
        chain = chain_of(node)
        if chain is not None:
            found[chain] = None
            return
        for child in children_of(node):
            visit(child)

    visit(loop)
    for name in sorted(bound_by(loop)):  # augmented assignments read their targets
        found.setdefault(Chain(name), None)
    return tuple(found)


def chain_of(node: ast.AST) -> Chain | None:
    """The chain of attributes that an expression is, if it is one."""
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not (attributes or isinstance(node.ctx, ast.Load)):
        return None
    return Chain(node.id, tuple(reversed(attributes)))
