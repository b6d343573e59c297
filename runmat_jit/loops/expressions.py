"""Expressions of a loop as kernel code."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from runmat_jit.kernel.ir import Value
from runmat_jit.loops import complex_numbers
from runmat_jit.loops.lists import Lists
from runmat_jit.loops.source import Chain, chain_of, returns
from runmat_jit.loops.values import (
    TRUTH,
    UNBOUND,
    Array,
    Complex,
    ComplexName,
    Grown,
    Item,
    Items,
    Object,
    Scalar,
    Unbound,
    Unknown,
    literal,
    parts_of,
)
from runmat_jit.loops.ways import DOUBT, Given, Helper
from runmat_jit.loops.wholes import arrays_in, is_whole

_DEPTH: Final = 4
"""Functions of the program's that call each other within a loop."""


class Expressions(Lists):
    """Emits expressions, calls of functions of the program's among them."""

    __slots__ = ()

    @abstractmethod
    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Emit statements."""

    def operate(self, op: str, *items: Item) -> Item:
        """An operator on some values."""
        if op == "MatMult":
            return self.product(items)
        if any(map(is_whole, items)):
            return self.operate_on(op, items)
        if any(isinstance(item, Complex) for item in items):
            return complex_numbers.operate(self.arithmetic, op, [*map(self.number, items)])
        scalars = [self.scalar(item) for item in items]
        made = self.arithmetic.operate(op, *scalars)
        if len({kind.python for kind in made.kinds}) > 1:
            self.follow(made, scalars)
        return made

    def follow(self, made: Scalar, operands: Sequence[Scalar]) -> None:
        """A result is one of NumPy's where an operand is: where that is known."""
        numpys: Value | None = None
        for operand in operands:
            own = self.is_numpys(operand)
            if not isinstance(own, Scalar):
                return
            numpys = own.value if numpys is None else numpys | own.value
        if numpys is not None:
            self.numpys[made.value.number] = Scalar(frozenset((TRUTH,)), numpys)

    def item(self, node: ast.expr) -> Item:
        """The value of an expression."""
        match node:
            case ast.Constant(value=value):
                return self.written_number(value)
            case ast.Name() | ast.Attribute():
                return self.named(node)
            case ast.BinOp(left=left, op=op, right=right):
                return self.operate(type(op).__name__, self.item(left), self.item(right))
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.item(operand))
            case ast.Compare() | ast.BoolOp() | ast.IfExp():
                return self.decision(node)
            case ast.Subscript(
                value=ast.Attribute(value=base, attr="shape"), slice=ast.Constant(value=int(place))
            ):
                return self.extent_of(self.item(base), place)
            case ast.Subscript(value=base, slice=index):
                return self.subscript(self.item(base), index)
            case ast.Tuple(elts=elts) | ast.List(elts=elts, ctx=ast.Load()):
                return Items(tuple(map(self.item, elts)), is_list=isinstance(node, ast.List))
            case ast.NamedExpr():
                return self.bound_within(node)
            case ast.Call(func=function, args=args, keywords=keywords):
                return self.value_of_call(function, args, keywords)
        raise Unknown(f"an expression of the kind {type(node).__name__}")

    def written_number(self, value: Any) -> Item:
        """A constant of the program's."""
        if isinstance(value, complex):
            parts = (literal(self.k, part) for part in (value.real, value.imag))
            return Complex(frozenset((complex_numbers.COMPLEX,)), *parts)
        return literal(self.k, value) if isinstance(value, int | float) else Object(value)

    def decision(self, node: ast.Compare | ast.BoolOp | ast.IfExp) -> Item:
        """An expression of which parts are computed where they are wanted."""
        if isinstance(node, ast.Compare):
            return self.comparison(node)
        if isinstance(node, ast.BoolOp):
            return self.boolean(node.values, conjunction=isinstance(node.op, ast.And))
        return self.either(node.test, node.body, node.orelse)

    def bound_within(self, node: ast.NamedExpr) -> Item:
        """``name := value``; of arrays, what the name held before might still be read."""
        made = self.item(node.value)
        if is_whole(made):
            raise Unknown("an array is bound within an expression")
        self.assign(node.target, made)
        return made

    def value_of_call(
        self, function: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> Item:
        """A call: of a function of the program's, or of a known one."""
        known = chain_of(function) in self.chains or isinstance(function, ast.Name)
        called = self.item(function) if known else None
        helper = self.helpers.get(called.value) if isinstance(called, Object) else None
        if helper is None or not isinstance(called, Object):
            return self.call(function, args, keywords)
        if keywords:
            raise Unknown("a call of a function with keywords")
        return self.helped(called.value, helper, [self.settled(self.item(arg)) for arg in args])

    def helped(self, fn: Any, helper: Helper, items: Sequence[Item]) -> Item:
        """A call of a function of the program's, whose body is emitted here."""
        source = helper.source
        if len(items) != len(source.parameters) or len(self.calling) > _DEPTH:
            raise Unknown("a call of a function that is called otherwise, or by itself")
        around, hidden = (self.names, self.chains, self.told), (DOUBT, *self.hidden)
        self.calling.append(fn)
        self.frames.append(self.names)
        try:
            self.chains = {chain: self.constant(value) for chain, value in helper.values.items()}
            self.told = frozenset()
            given = zip(source.parameters, items, strict=True)
            self.names = {name: self.names[name] for name in hidden}
            for name, item in given:
                self.bind(name, item)
            result = self.settled(self.returned(source.body))
            self.memory.pinned.extend(arrays_in(result))
            inner = self.names
        finally:  # what is not known there may be emitted in another way
            self.names, self.chains, self.told = around
            self.calling.pop()
            self.frames.pop()
        self.names.update({name: inner[name] for name in hidden})
        for name in sorted(inner):
            item = inner[name]
            own = name.partition(".")[0]
            kept = own in source.parameters or name in hidden or item is result
            if isinstance(item, Scalar) and not kept:
                self.arithmetic.dropped(item)
        return result

    def constant(self, value: Any) -> Item:
        """What a function reads from outside."""
        return self.given[value.chain] if isinstance(value, Given) else Object(value)

    def returned(self, body: Sequence[ast.stmt]) -> Item:
        """What statements of a function return."""
        for place, statement in enumerate(body):
            rest = [*body[place + 1 :]]
            if isinstance(statement, ast.Return):
                assert statement.value is not None, "its syntax is known"
                return self.item(statement.value)
            if isinstance(statement, ast.If) and has_return(statement):
                return self.returned_by_one(statement, rest)
            self.run([statement])
        raise Unknown("a function that may return nothing")

    def returned_by_one(self, node: ast.If, rest: Sequence[ast.stmt]) -> Item:
        """What the one or the other way returns, or what comes after both."""
        ways = [way if returns(way) else [*way, *rest] for way in (node.body, node.orelse)]
        decided = self.scalar(self.item(node.test))
        if decided.literal is not None:
            return self.returned(ways[0 if decided.literal else 1])
        first, second = (lambda way=way: self.number(self.returned(way)) for way in ways)
        return self.chosen_number(self.arithmetic.truth(decided), first, second)

    def unary(self, op: ast.unaryop, operand: Item) -> Item:
        if not isinstance(op, ast.Not):
            return self.operate(type(op).__name__, operand)
        truth = self.arithmetic.truth(self.scalar(operand))
        return Scalar(frozenset((TRUTH,)), self.k.prim("xor", truth, True))

    def assign(self, target: ast.expr, made: Item) -> None:
        match target:
            case ast.Name(id=name):
                self.bind(name, made)
            case ast.Tuple(elts=targets):
                items = [self.settled(item) for item in self.unpacked(made, len(targets))]
                for each, item in zip(targets, items, strict=True):
                    self.assign(each, item)
            case ast.Subscript(value=base, slice=index):
                self.store(self.element(self.item(base), index), made)
            case _:
                raise Unknown(f"a store into {type(target).__name__}")

    def unpacked(self, made: Item, count: int) -> tuple[Item, ...]:
        settled = self.settled(made)
        if isinstance(settled, Array) and settled.axes:
            return self.rows_of(settled, count)
        if not isinstance(made, Items) or len(made.items) != count:
            raise Unknown("an assignment to several names of what is no tuple of as many")
        return made.items

    def subscript(self, base: Item, index: ast.expr) -> Item:
        if isinstance(base, Items):
            for item in base.items:
                if isinstance(item, Scalar):
                    self.arithmetic.dropped(item)
            number = self.scalar(self.item(index)).literal
            if type(number) is not int or not -len(base.items) <= number < len(base.items):
                raise Unknown("an item of a tuple, by an index that is not written in the program")
            found: Item = base.items[number]
            return found
        if isinstance(base, Grown):
            return self.item_of_list(base, self.scalar(self.item(index)))
        return self.load(self.element(base, index))

    def extent_of(self, base: Item, place: int) -> Item:
        """``x.shape[place]``, which asks for no other extent."""
        found = self.settled(base)
        if not isinstance(found, Array) or not -len(found.axes) <= place < len(found.axes):
            raise Unknown("an extent of what has no such axis")
        return self.extent(found.axes[place])

    def read(self, chain: Chain) -> Item:
        """A name, or a value from outside."""
        if not chain.attributes and chain.name in self.names:
            found = self.names[chain.name]
            if isinstance(found, ComplexName):
                re, im = (self.scalar(self.names[part]) for part in parts_of(chain.name))
                return Complex(found.kinds, re, im)
            return found
        return self.chains.get(chain, UNBOUND)

    def named(self, node: ast.expr) -> Item:
        chain = chain_of(node)
        if chain is not None and chain.name not in self.names and chain in self.chains:
            return self.chains[chain]
        if isinstance(node, ast.Attribute):
            return self.attribute(self.item(node.value), node.attr)
        assert chain is not None, "a name is a chain"
        found = self.read(chain)
        if isinstance(found, Unbound):
            raise Unknown(f"{chain.name}: {found.why}")
        return found

    def attribute(self, base: Item, name: str) -> Item:
        base = self.settled(base)  # its events count
        if isinstance(base, Complex) and name in ("real", "imag"):
            return complex_numbers.part(base, name)
        if isinstance(base, Array):
            if name == "shape":
                return Items(tuple(self.extent(axis) for axis in base.axes))
            if name == "ndim":
                return literal(self.k, len(base.axes))
            if name == "size" and len(base.axes) == 1:
                return self.extent(base.axes[0])
            if name == "T":
                return turned_over(base)
        raise Unknown(f"the attribute {name}")

    def comparison(self, node: ast.Compare) -> Item:
        """A chain of comparisons: the later ones are made where the earlier hold."""
        left = self.item(node.left)
        right = self.item(node.comparators[0])
        made = self.operate(type(node.ops[0]).__name__, left, right)
        if len(node.ops) == 1:
            return made
        first = self.scalar(made)

        def rest(place: int, left: Item) -> Scalar:
            right = self.item(node.comparators[place])
            found = self.scalar(self.operate(type(node.ops[place]).__name__, left, right))
            if place + 1 == len(node.ops):
                return found
            return self.both(found, lambda: rest(place + 1, right), when=True)

        return self.both(first, lambda: rest(1, right), when=True)

    def boolean(self, values: Sequence[ast.expr], *, conjunction: bool) -> Scalar:
        first = self.scalar(self.item(values[0]))
        if len(values) == 1:
            return first
        return self.both(
            first, lambda: self.boolean(values[1:], conjunction=conjunction), when=conjunction
        )

    def either(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Item:
        decided = self.scalar(self.item(test))
        if decided.literal is not None:
            return self.item(body if decided.literal else orelse)
        return self.chosen_number(
            self.arithmetic.truth(decided),
            lambda: self.number(self.item(body)),
            lambda: self.number(self.item(orelse)),
        )


def turned_over(x: Array) -> Array:
    """``x.T``."""
    if len(x.axes) < 2:
        return replace(x, axes=x.axes[::-1], whole=False, turned=True)
    turned = not (x.turned and x.mirrored)
    return replace(x, axes=x.axes[::-1], whole=False, turned=turned, mirrored=not x.turned)


def has_return(node: ast.AST) -> bool:
    """Whether something in a statement returns."""
    return any(isinstance(each, ast.Return) for each in ast.walk(node))
