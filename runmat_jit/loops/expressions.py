"""Expressions of a loop as kernel code."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from runmat_jit.core.types import is_complex
from runmat_jit.loops import (
    binding,
    calls,
    complex_arrays,
    complex_numbers,
    control_flow,
    creation,
    elements,
    index_arrays,
    indexing,
    iterated_calls,
    list_objects,
    lists,
    masks,
    open_extents,
    operators,
    row_products,
    slices,
)
from runmat_jit.loops.comprehensions import Comprehension
from runmat_jit.loops.emitter import DOUBT, Emitter
from runmat_jit.loops.equivalents import equivalent
from runmat_jit.loops.returns import EXIT, VALUE, Loop, without_returns
from runmat_jit.loops.source import Chain, Given, Helper, chain_of, default_of, returns
from runmat_jit.loops.values import (
    BOOL,
    NEVER,
    TRUTH,
    UNBOUND,
    Array,
    Complex,
    ComplexName,
    Grown,
    Item,
    Items,
    Never,
    Object,
    Scalar,
    Thing,
    Unbound,
    Unknown,
    any_number,
    constant,
    literal,
    parts_of,
    scalar,
)
from runmat_jit.loops.whole_arrays import arrays_in, is_whole

_DEPTH: Final = 4
"""Functions of the program's that call each other within a loop."""


def value_of(e: Emitter, node: ast.expr) -> Item:
    """The value of an expression."""
    match node:
        case ast.Constant(value=value):
            return _written_number(e, value)
        case ast.Name() | ast.Attribute():
            return _named(e, node)
        case ast.BinOp() | ast.Call() if node in e.blocks:
            return row_products.product(e, e.blocks[node])
        case ast.BinOp(left=left, op=op, right=right):
            return operators.operate(e, type(op).__name__, e.item(left), e.item(right))
        case ast.UnaryOp(op=op, operand=operand):
            return _unary(e, op, e.item(operand))
        case ast.Compare() | ast.BoolOp() | ast.IfExp():
            return _decision(e, node)
        case ast.Subscript(
            value=ast.Attribute(value=base, attr="shape"), slice=ast.Constant(value=int(place))
        ):
            return _extent_of(e, e.item(base), place)
        case ast.Subscript(value=base, slice=index):
            return _subscript(e, e.item(base), index)
        case ast.Tuple(elts=elts) | ast.List(elts=elts, ctx=ast.Load()):
            return Items(tuple(map(e.item, elts)), is_list=isinstance(node, ast.List))
        case ast.NamedExpr():
            return _bound_within(e, node)
        case ast.Call(func=function, args=args, keywords=keywords):
            return _value_of_call(e, function, args, keywords)
    raise Unknown(f"an expression of the kind {type(node).__name__}")


def _written_number(e: Emitter, value: Any) -> Item:
    """A constant of the program's."""
    if isinstance(value, complex):
        parts = (literal(e.k, part) for part in (value.real, value.imag))
        return Complex(frozenset((complex_numbers.COMPLEX,)), *parts)
    return literal(e.k, value) if isinstance(value, int | float) else Object(value)


def _decision(e: Emitter, node: ast.Compare | ast.BoolOp | ast.IfExp) -> Item:
    """An expression of which parts are computed where they are wanted."""
    if isinstance(node, ast.Compare):
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            a, b = (e.item(each) for each in (node.left, node.comparators[0]))
            return list_objects.is_same(e, a, b, same=isinstance(node.ops[0], ast.Is))
        return _comparison(e, node)
    if isinstance(node, ast.BoolOp):
        return _boolean(e, node.values, _number, conjunction=isinstance(node.op, ast.And))
    return _either(e, node.test, node.body, node.orelse)


def _bound_within(e: Emitter, node: ast.NamedExpr) -> Item:
    """``name := value``; of arrays, what the name held before might still be read."""
    made = e.item(node.value)
    if is_whole(made):
        raise Unknown("an array is bound within an expression")
    assign(e, node.target, made)
    return made


def _value_of_call(
    e: Emitter, function: ast.expr, args: Sequence[ast.expr], keywords: Sequence[ast.keyword]
) -> Item:
    """A call: of a function of the program's, or of a known one."""
    if len(args) == 1 and isinstance(args[0], Comprehension) and not keywords:
        return iterated_calls.called(e, e.item(function), args[0])
    base = function.value if isinstance(function, ast.Attribute) else None
    if isinstance(function, ast.Attribute) and isinstance(base, ast.Name) and is_thing(e, base.id):
        return called_of(e, function, args, keywords)
    known = chain_of(function) in e.chains or isinstance(function, ast.Name)
    called = e.item(function) if known else None
    if not isinstance(called, Object):
        return calls.call(e, function, args, keywords)
    helper = e.helpers.get(called.value) or equivalent(called.value, len(args))
    if helper is None:
        return calls.call(e, function, args, keywords)
    return helped(e, called.value, helper, args, keywords)


def is_thing(e: Emitter, name: str) -> bool:
    """Return True if a name holds an object of a list."""
    return isinstance(e.names.get(name), Thing)


def called_of(
    e: Emitter,
    function: ast.Attribute,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    *,
    returns: bool = True,
) -> Item:
    """A call of a method of an object."""
    thing: Any = e.item(function.value)
    fn = list_objects.method(thing, function.attr)
    helper = e.helpers[fn]
    returns = returns or any(map(has_return, helper.source.body))
    return helped(e, fn, helper, [function.value, *args], keywords, returns=returns)


def helped(
    e: Emitter,
    fn: Any,
    helper: Helper,
    args: Sequence[ast.expr],
    keywords: Sequence[ast.keyword],
    *,
    returns: bool = True,
) -> Item:
    """A call of a function of the program's, whose body is emitted here.

    ``returns``: the call has a value; else the function is a procedure.
    """
    source = helper.source
    items = [indexing.settled(e, e.item(arg)) for arg in args]
    named = {each.arg: indexing.settled(e, e.item(each.value)) for each in keywords}
    given = dict(zip(source.parameters, items, strict=False))
    taken = source.parameters[max(len(items), source.positional) :]
    given |= {name: named[name] for name in taken if name in named}
    for name in source.defaults:
        if name not in given and default_of(name) in helper.values:
            default: Any = helper.values[default_of(name)]
            given[name] = literal(e.k, default)
    fits = len(items) <= len(source.parameters) and named.keys() <= set(taken)
    if not fits or len(given) < len(source.parameters) or len(e.calling) > _DEPTH:
        raise Unknown("a call of a function that is called otherwise, or by itself")
    around, hidden = (e.names, e.chains, e.told), (DOUBT, *e.hidden)
    e.calling.append(fn)
    e.frames.append(e.names)
    try:
        e.chains = {chain: _constant(e, value) for chain, value in helper.values.items()}
        e.told = frozenset()
        e.names = {name: e.names[name] for name in hidden}
        for name, item in given.items():
            binding.bind(e, name, item)
        if returns:
            result = indexing.settled(e, _returned(e, source.body))
            e.memory.pinned.extend(arrays_in(result))
        else:
            e.run(source.body)
            result = Object(None)
        inner = e.names
    finally:  # what is not known there may be emitted in another way
        e.names, e.chains, e.told = around
        e.calling.pop()
        e.frames.pop()
    e.names.update({name: inner[name] for name in hidden})
    for name in sorted(inner):
        item = inner[name]
        own = name.partition(".")[0]
        kept = own in source.parameters or name in hidden or item is result
        if isinstance(item, Scalar) and not kept:
            e.arithmetic.dropped(item)
    return result


def _constant(e: Emitter, value: Any) -> Item:
    """What a function reads from outside."""
    return e.given[value.chain] if isinstance(value, Given) else constant(e.k, value)


def _returned(e: Emitter, body: Sequence[ast.stmt]) -> Item:
    """What statements of a function return."""
    for place, statement in enumerate(body):
        rest = [*body[place + 1 :]]
        if isinstance(statement, ast.Return):
            assert statement.value is not None, "its syntax is known"
            return e.item(statement.value)
        if isinstance(statement, ast.If) and has_return(statement):
            return _returned_by_one(e, statement, rest)
        if isinstance(statement, Loop) and has_return(statement):
            return _returned_by_loop(e, statement, rest)
        e.run([statement])
    raise Unknown("a function that may return nothing")


def _returned_by_one(e: Emitter, node: ast.If, rest: Sequence[ast.stmt]) -> Item:
    """What the one or the other way returns, or what comes after both."""
    blocks = [way if returns(way) else [*way, *rest] for way in (node.body, node.orelse)]
    decided = condition(e, node.test)
    if decided.literal is not None:
        return _returned(e, blocks[0 if decided.literal else 1])
    first, second = (lambda way=way: any_number(_returned(e, way)) for way in blocks)
    return control_flow.chosen_number(e, e.arithmetic.truth(decided), first, second)


def _returned_by_loop(e: Emitter, node: Loop, rest: Sequence[ast.stmt]) -> Item:
    """Emit a loop with ``return``: its value, or that of the statements after it."""
    e.names |= {EXIT: literal(e.k, 0), **dict.fromkeys((VALUE, *parts_of(VALUE)), NEVER)}
    e.run([without_returns(node, keeps=True)])
    exits, value = (ast.copy_location(ast.Name(n, ast.Load()), node) for n in (EXIT, VALUE))
    returned = ast.copy_location(ast.Return(value), node)
    return _returned_by_one(e, ast.copy_location(ast.If(exits, [returned], []), node), rest)


def _unary(e: Emitter, op: ast.unaryop, operand: Item) -> Item:
    if not isinstance(op, ast.Not):
        return operators.operate(e, type(op).__name__, operand)
    truth = e.arithmetic.truth(scalar(operand))
    return Scalar(frozenset((TRUTH,)), e.k.prim("xor", truth, True))


def assign(e: Emitter, target: ast.expr, made: Item) -> None:
    match target:
        case ast.Name(id=name):
            binding.bind(e, name, made)
        case ast.Tuple(elts=targets):
            items = [indexing.settled(e, item) for item in _unpacked(e, made, len(targets))]
            for each, item in zip(targets, items, strict=True):
                assign(e, each, item)
        case ast.Subscript(value=base, slice=index):
            place = slices.part_of(e, e.item(base), index)
            if isinstance(made, Items):
                creation.store_items(e, place, made)
            else:
                masks.store(e, place, made)
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if is_thing(e, name):
            list_objects.store(e, e.names[name], attr, made)  # type: ignore[arg-type]  # it is one
        case _:
            raise Unknown(f"a store into {type(target).__name__}")


def _unpacked(e: Emitter, made: Item, count: int) -> tuple[Item, ...]:
    settled = indexing.settled(e, made)
    if isinstance(settled, Array) and settled.axes:
        return creation.rows_of(e, settled, count)
    if not isinstance(made, Items) or len(made.items) != count:
        raise Unknown("an assignment to several names of what is no tuple of as many")
    return made.items


def _subscript(e: Emitter, base: Item, index: ast.expr) -> Item:
    if isinstance(base, Items):
        for item in base.items:
            if isinstance(item, Scalar):
                e.arithmetic.dropped(item)
        number = scalar(e.item(index)).literal
        if type(number) is not int or not -len(base.items) <= number < len(base.items):
            raise Unknown("an item of a tuple, by an index that is not written in the program")
        found: Item = base.items[number]
        return found
    if isinstance(base, Grown):
        return lists.item_of_list(e, base, scalar(e.item(index)))
    if (of := list_objects.objects_in(base)) is not None:
        return list_objects.at(e, of, scalar(e.item(index)))
    if not is_whole(base) or isinstance(index, ast.Tuple) or slices.is_sliced(index):
        return elements.load(e, slices.part_of(e, base, index))
    place = e.item(index)
    if is_whole(place) and place.dtype == BOOL:
        mask = indexing.settled(e, place)
        assert isinstance(mask, Array), "it is an array"
        return masks.read(e, base, mask)
    if is_whole(place):
        return index_arrays.taken(e, base, place)
    x = indexing.settled(e, base)
    assert isinstance(x, Array), "it is an array"
    return elements.load(e, elements.at(e, x, scalar(place)))


def _extent_of(e: Emitter, base: Item, place: int) -> Item:
    """``x.shape[place]``, which asks for no other extent."""
    found = indexing.settled(e, base)
    if not isinstance(found, Array) or not -len(found.axes) <= place < len(found.axes):
        raise Unknown("an extent of what has no such axis")
    return elements.extent(e, found.axes[place])


def read(e: Emitter, chain: Chain) -> Item:
    """A name, or a value from outside."""
    if not chain.attributes and chain.name in e.names:
        found = e.names[chain.name]
        if isinstance(found, ComplexName):
            re, im = (scalar(e.names[part]) for part in parts_of(chain.name))
            return Complex(found.kinds, re, im)
        if isinstance(found, Array) and found.open:
            return open_extents.current(e, chain.name, found)
        return found
    return e.chains.get(chain, UNBOUND)


def _named(e: Emitter, node: ast.expr) -> Item:
    chain = chain_of(node)
    if chain is not None and chain.name not in e.names and chain in e.chains:
        return e.chains[chain]
    if isinstance(node, ast.Attribute):
        calls.require_known(e, chain)
        return _attribute(e, e.item(node.value), node.attr)
    assert chain is not None, "a name is a chain"
    found = read(e, chain)
    if isinstance(found, Unbound | Never):
        raise Unknown(f"{chain.name}: {found.why}")
    return found


def _attribute(e: Emitter, base: Item, name: str) -> Item:
    if isinstance(base, Thing):
        return list_objects.attribute(e, base, name)
    base = indexing.settled(e, base)  # its events count
    if isinstance(base, Complex) and name in ("real", "imag"):
        return complex_numbers.part(base, name)
    if is_whole(base) and is_complex(base.dtype) and name in ("real", "imag"):
        return complex_arrays.part(e, base, name)  # type: ignore[no-any-return]  # an array
    if isinstance(base, Array):
        if name == "shape":
            return Items(tuple(elements.extent(e, axis) for axis in base.axes))
        if name == "ndim":
            return literal(e.k, len(base.axes))
        if name == "size" and len(base.axes) == 1:
            return elements.extent(e, base.axes[0])
        if name == "T":
            return elements.turned_over(base)
        if name == "dtype":
            return Object(base.dtype)
    raise Unknown(f"the attribute {name}")


def _comparison(e: Emitter, node: ast.Compare) -> Item:
    """A chain of comparisons: the later ones are made where the earlier hold."""
    left = e.item(node.left)
    right = e.item(node.comparators[0])
    made = operators.operate(e, type(node.ops[0]).__name__, left, right)
    if len(node.ops) == 1:
        return made
    first = scalar(made)

    def rest(place: int, left: Item) -> Scalar:
        right = e.item(node.comparators[place])
        found = scalar(operators.operate(e, type(node.ops[place]).__name__, left, right))
        if place + 1 == len(node.ops):
            return found
        return control_flow.both(e, found, lambda: rest(place + 1, right), when=True)

    return control_flow.both(e, first, lambda: rest(1, right), when=True)


def condition(e: Emitter, node: ast.expr) -> Scalar:
    """Emit what a decision depends on: of ``and`` and ``or``, the truth of each operand."""
    if isinstance(node, ast.BoolOp):
        return _boolean(e, node.values, condition, conjunction=isinstance(node.op, ast.And))
    found = scalar(e.item(node))
    if found.literal is not None or found.type == "i1":
        return found
    return Scalar(frozenset((TRUTH,)), e.arithmetic.truth(found))


def _boolean(
    e: Emitter,
    values: Sequence[ast.expr],
    operand: Callable[[Emitter, ast.expr], Scalar],
    *,
    conjunction: bool,
) -> Scalar:
    first = operand(e, values[0])
    if len(values) == 1:
        return first
    return control_flow.both(
        e,
        first,
        lambda: _boolean(e, values[1:], operand, conjunction=conjunction),
        when=conjunction,
    )


def _number(e: Emitter, node: ast.expr) -> Scalar:
    return scalar(e.item(node))


def _either(e: Emitter, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Item:
    decided = condition(e, test)
    if decided.literal is not None:
        return e.item(body if decided.literal else orelse)
    return control_flow.chosen_number(
        e,
        e.arithmetic.truth(decided),
        lambda: any_number(e.item(body)),
        lambda: any_number(e.item(orelse)),
    )


def has_return(node: ast.AST) -> bool:
    """True if something in a statement returns."""
    return any(isinstance(each, ast.Return) for each in ast.walk(node))
