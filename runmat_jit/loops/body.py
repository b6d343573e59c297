"""Statements of a loop as kernel code, and the loops in it.

What is not known here raises :class:`.values.Unknown`, and the loop runs as it stands.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from runmat_jit.kernel.ir import Value
from runmat_jit.loops.nests import Nests, Repeated
from runmat_jit.loops.source import Chain, appended, grown_by
from runmat_jit.loops.values import (
    Array,
    Item,
    Lazy,
    Scalar,
    Unknown,
    literal,
)
from runmat_jit.loops.ways import BROKEN, LIVE, Known


class Body(Nests):
    """Emits statements and loops."""

    __slots__ = ()

    # -- statements --------------------------------------------------------------------------------
    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Emit statements; what comes after one that may end the turn runs while it is live."""
        for position, statement in enumerate(statements):
            if isinstance(statement, ast.Break | ast.Continue):
                if isinstance(statement, ast.Break):
                    self.names[BROKEN] = literal(self.k, number=True)
                self.names[LIVE] = literal(self.k, number=False)
                return
            try:
                self.statement(statement)
            except Unknown as unknown:
                if unknown.line is None:
                    unknown.line = statement.lineno
                raise
            rest = statements[position + 1 :]
            live = self.names.get(LIVE)
            if rest and isinstance(live, Scalar) and live.literal is not True:
                self.choose(self.arithmetic.truth(live), partial(self.run, rest), None)
                return

    def statement(self, node: ast.stmt) -> None:
        with self.memory.holding():
            self.emitted(node)

    def emitted(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                made = self.item(value)
                if len(targets) > 1:
                    made = self.settled(made)  # one array by several names
                for target in targets:
                    self.assign(target, made)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, type(op).__name__, value)
            case ast.If():
                self.branch(node)
            case ast.For():
                self.for_(node)
            case ast.While():
                self.while_(node)
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value) if (found := appended(value)) is not None:
                self.append(self.item(found[0]), found[1])
            case ast.Raise():  # by Python
                self.k.leave_if(self.k.const(True, "i1"))
            case ast.Assert(test=test):
                holds = self.arithmetic.truth(self.scalar(self.item(test)))
                self.k.leave_if(self.k.prim("xor", holds, True))
            case _:
                raise Unknown(f"a statement of the kind {type(node).__name__}")

    def augment(self, target: ast.expr, op: str, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                old = self.read(Chain(name))
                if isinstance(old, Array) and old.axes:
                    self.change(old, op, self.item(value))
                    return
                self.bind(name, self.operate(op, old, self.item(value)))
            case ast.Subscript(value=base, slice=index):
                place = self.element(self.item(base), index)
                old = self.load(place)
                if place.axes:
                    self.change(place, op, self.item(value))
                    return
                self.store(place, self.operate(op, old, self.item(value)))
            case _:
                raise Unknown(f"a store into {type(target).__name__}")

    def change(self, place: Array, op: str, value: Item) -> None:
        """An operation in place: the result has the dtype of the array."""
        made = self.operate(op, place, value)
        if not isinstance(made, Lazy) or made.dtype != place.dtype:
            raise Unknown("an operation in place whose result is of another dtype")
        if len(made.axes) != len(place.axes):
            raise Unknown("an operation in place whose result has more axes")
        self.store(place, made)

    def branch(self, node: ast.If) -> None:
        with self.memory.holding():
            test = self.item(node.test)
        if isinstance(test, Scalar) and test.literal is not None:
            self.run(node.body if test.literal else node.orelse)
            return
        condition = self.arithmetic.truth(self.scalar(test))
        orelse = node.orelse
        otherwise = (lambda: self.run(orelse)) if orelse else None
        self.choose(condition, lambda: self.run(node.body), otherwise)

    # -- loops -------------------------------------------------------------------------------------
    def for_(self, node: ast.For) -> None:
        turns = self.turns(node.iter, grows=bool(grown_by(node)))

        def turn(k: Value) -> None:
            self.assign(node.target, turns.item(k))
            self.run(node.body)

        self.repeat(Repeated(node, turn), turns.count)

    def while_(self, node: ast.While) -> None:
        def turn(_k: Value) -> None:
            self.turn_while(node)

        self.repeat(Repeated(node, turn), None)

    def turn_while(self, node: ast.While, ends: list[Known] | None = None) -> None:
        """A turn of a ``while``, its question included: it is broken where the answer is no.

        ``ends`` is given what is known where the answer was yes, at the end of the turn.
        """

        def run() -> None:
            if ends is not None:
                self.turn_place = self.arithmetic.place
            self.run(node.body)
            if ends is not None:
                ends.append(dict(self.names))

        with self.memory.holding():
            test = self.item(node.test)
        if isinstance(test, Scalar) and test.literal is not None:
            if test.literal:
                run()
            else:
                self.names[BROKEN] = literal(self.k, number=True)
            return

        def stop() -> None:
            self.names[BROKEN] = literal(self.k, number=True)

        condition = self.arithmetic.truth(self.scalar(test))
        self.choose(condition, run, stop)
