"""Statements of a loop as kernel code, and the loops in it.

What is not known here raises :class:`.values.Unknown`, and the loop runs as it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import (
    binding,
    calls,
    control_flow,
    creation,
    elements,
    expressions,
    indexing,
    iteration,
    list_objects,
    lists,
    masks,
    nests,
    numpy_draws,
    operators,
    signatures,
    slices,
    sorting,
)
from runmat_jit.loops.calls import require_known
from runmat_jit.loops.emitter import BROKEN, LIVE, Emitter, Known
from runmat_jit.loops.nests import Repeated
from runmat_jit.loops.source import Chain, appended, chain_of, grown_by
from runmat_jit.loops.values import Array, Item, Lazy, Object, Scalar, Unknown, literal

_BY_NAME: Final = (np.maximum, np.minimum)
"""Ufuncs that warn where the array for the result is not given by name."""


def run(e: Emitter, statements: Sequence[ast.stmt]) -> None:
    """Emit statements; what comes after one that may end the iteration runs while it is live."""
    for position, statement in enumerate(statements):
        if isinstance(statement, ast.Break | ast.Continue):
            if isinstance(statement, ast.Break):
                e.names[BROKEN] = literal(e.k, number=True)
            e.names[LIVE] = literal(e.k, number=False)
            return
        try:
            _run_statement(e, statement)
        except Unknown as unknown:
            if unknown.line is None:
                unknown.line = statement.lineno
            raise
        rest = statements[position + 1 :]
        live = e.names.get(LIVE)
        if rest and isinstance(live, Scalar) and live.literal is not True:
            control_flow.choose(e, e.arithmetic.truth(live), partial(e.run, rest), None)
            return


def _run_statement(e: Emitter, node: ast.stmt) -> None:
    with e.memory.holding():
        _emit_statement(e, node)


def _emit_statement(e: Emitter, node: ast.stmt) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            made = e.item(value)
            if len(targets) > 1:
                made = indexing.settled(e, made)  # one array by several names
            for target in targets:
                expressions.assign(e, target, made)
        case ast.AugAssign(target=target, op=op, value=value):
            _augment(e, target, type(op).__name__, value)
        case ast.If():
            _branch(e, node)
        case ast.For():
            _for(e, node)
        case ast.While():
            _while(e, node)
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case ast.Expr(value=value) if (found := appended(value)) is not None:
            lists.append(e, e.item(found[0]), found[1])
        case ast.Expr(value=ast.Call() as call):
            _procedure(e, call)
        case ast.Raise() | ast.Assert():
            _raise(e, node)
        case _:
            raise Unknown(f"a statement of the kind {type(node).__name__}")


def _raise(e: Emitter, node: ast.Raise | ast.Assert) -> None:
    """Leave where Python is to raise an exception."""
    if isinstance(node, ast.Raise):
        e.k.leave_if(e.k.const(True, "i1"))
        return
    holds = e.arithmetic.truth(expressions.condition(e, node.test))
    e.k.leave_if(e.k.prim("xor", holds, True))


def _procedure(e: Emitter, call: ast.Call) -> None:
    """Emit a call as a statement: a procedure, or a store into an array."""
    function, args, keywords = call.func, call.args, call.keywords
    if isinstance(function, ast.Attribute) and _is_of_thing(e, function):
        expressions.called_of(e, function, args, keywords, returns=False)
        return
    if isinstance(function, ast.Attribute) and function.attr == "shuffle" and not keywords:
        operands = [e.item(each) for each in (function.value, *args)]
        signatures.apply(e, numpy_draws.SHUFFLING, "shuffle", operands)
        return
    if isinstance(function, ast.Attribute) and chain_of(function) not in e.chains:
        place, made = _filled(e, function, args, keywords)
    else:
        called = e.item(function)
        fn: Any = called.value if isinstance(called, Object) else None
        if isinstance(called, Object) and (helper := e.helpers.get(fn)) is not None:
            returns = any(map(expressions.has_return, helper.source.body))
            expressions.helped(e, fn, helper, args, keywords, returns=returns)
            return
        if fn is np.fill_diagonal and not keywords:
            creation.fill_diagonal(e, [e.item(arg) for arg in args])
            return
        place, made = _put_into(e, call, fn)
    if made is None or not isinstance(place, Array) or not 0 < len(place.axes) >= _rank(made):
        raise Unknown(f"a call of {ast.unparse(function)} as a statement")
    indexing.store(e, place, made)


def _is_of_thing(e: Emitter, function: ast.Attribute) -> bool:
    """Return True for a method of an object of a list."""
    return isinstance(function.value, ast.Name) and expressions.is_thing(e, function.value.id)


_Store = tuple[Item | None, Item | None]
"""An array and what is stored into it; None: the call is not known."""


def _filled(
    e: Emitter, function: ast.Attribute, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> _Store:
    """Emit the operands of ``x.fill(value)``, and of ``x.sort()``."""
    require_known(e, chain_of(function))
    if function.attr == "sort" and not args and not keywords:
        place = e.item(function.value)
        return place, signatures.apply(e, sorting.CALLS_OF_SORTING, "sort", [place])
    if function.attr != "fill" or len(args) != 1 or keywords:
        return None, None
    place, made = e.item(function.value), e.item(args[0])
    return place, made if isinstance(made, Scalar) else None


def _put_into(e: Emitter, call: ast.Call, fn: Any) -> _Store:
    """Emit a function of NumPy's whose result goes into an array: of the array's dtype."""
    named = [each.value for each in call.keywords if each.arg == "out"]
    count = fn.nin if isinstance(fn, np.ufunc) else len(call.args)
    into = [*call.args[count:], *named]
    is_ufunc = isinstance(fn, np.ufunc) and (named or fn not in _BY_NAME)
    if len(into) != 1 or len(named) < len(call.keywords) or not (is_ufunc or fn is np.clip):
        return None, None
    place, made = e.item(into[0]), calls.call(e, call.func, call.args[:count])
    return place, made if _dtypes(made) == _dtypes(place) else None


def _rank(item: Item) -> int:
    """Axes of an array; 0 for a number."""
    return len(item.axes) if isinstance(item, Array | Lazy) else 0


def _dtypes(item: Item | None) -> set[np.dtype]:
    """The dtypes that a number or an array may have as one of NumPy's."""
    if isinstance(item, Scalar):
        return {kind.dtype for kind in item.kinds}
    return {item.dtype} if isinstance(item, Array | Lazy) else set()


def _augment(e: Emitter, target: ast.expr, op: str, value: ast.expr) -> None:
    match target:
        case ast.Name(id=name):
            old = expressions.read(e, Chain(name))
            if isinstance(old, Array) and old.axes:
                _change(e, old, op, e.item(value))
                return
            binding.bind(e, name, operators.operate(e, op, old, e.item(value)))
        case ast.Subscript(value=base, slice=index):
            place = slices.part_of(e, e.item(base), index)
            old = elements.load(e, place)
            if place.mask is not None:
                chosen = masks.read(e, replace(place, mask=None), place.mask)
                masks.store(e, place, _changed(e, chosen, op, e.item(value)))
                return
            if place.axes:
                _change(e, place, op, e.item(value))
                return
            indexing.store(e, place, operators.operate(e, op, old, e.item(value)))
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if expressions.is_thing(e, name):
            thing: Any = e.names[name]
            old = list_objects.attribute(e, thing, attr)
            if isinstance(old, Array):
                _change(e, old, op, e.item(value))
            else:
                list_objects.store(e, thing, attr, operators.operate(e, op, old, e.item(value)))
        case _:
            expressions.assign(e, target, Object(None))  # which is not known, either


def _change(e: Emitter, place: Array, op: str, value: Item) -> None:
    """Emit an operation in place."""
    indexing.store(e, place, _changed(e, place, op, value))


def _changed(e: Emitter, x: Item, op: str, value: Item) -> Lazy:
    """Emit the result of an operation in place: of the dtype and the rank of the array."""
    made = operators.operate(e, op, x, value)
    if not isinstance(made, Lazy) or _dtypes(made) != _dtypes(x):
        raise Unknown("an operation in place whose result is of another dtype")
    if len(made.axes) != _rank(x):
        raise Unknown("an operation in place whose result has more axes")
    return made


def _branch(e: Emitter, node: ast.If) -> None:
    with e.memory.holding():
        test = expressions.condition(e, node.test)
    if test.literal is not None:
        e.run(node.body if test.literal else node.orelse)
        return
    condition = e.arithmetic.truth(test)
    orelse = node.orelse
    otherwise = (lambda: e.run(orelse)) if orelse else None
    control_flow.choose(e, condition, lambda: e.run(node.body), otherwise)


# -- loops -----------------------------------------------------------------------------------------
def _for(e: Emitter, node: ast.For) -> None:
    turns = iteration.turns(e, node.iter, grows=bool(grown_by(node)))

    def turn(k: Value) -> None:
        expressions.assign(e, node.target, turns.item(k))
        e.run(node.body)

    if turns.unrolled is None:
        nests.repeat(e, Repeated(node, turn), turns.count)
    else:
        nests.unroll(e, Repeated(node, turn), turns.unrolled)


def _while(e: Emitter, node: ast.While) -> None:
    def turn(_k: Value) -> None:
        turn_while(e, node)

    nests.repeat(e, Repeated(node, turn), None)


def turn_while(e: Emitter, node: ast.While, ends: list[Known] | None = None) -> None:
    """An iteration of a ``while``, its question included: it is broken where the answer is no.

    ``ends`` is given what is known where the answer was yes, at the end of the iteration.
    """

    def run() -> None:
        if ends is not None:
            e.turn_place = e.arithmetic.place
        e.run(node.body)
        if ends is not None:
            ends.append(dict(e.names))

    with e.memory.holding():
        test = expressions.condition(e, node.test)
    if test.literal is not None:
        if test.literal:
            run()
        else:
            e.names[BROKEN] = literal(e.k, number=True)
        return

    def stop() -> None:
        e.names[BROKEN] = literal(e.k, number=True)

    condition = e.arithmetic.truth(test)
    control_flow.choose(e, condition, run, stop)
