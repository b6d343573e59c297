"""Estimates the work of a function's calls with whole arrays from its source.

The estimate is low: branches count nothing, nor do values that may be no whole arrays.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import linecache
import math
import operator
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from tokenize import TokenError
from typing import Any, Final, overload

import numpy as np

from runmat_jit.core.hotness import ELEMENTS, FEW

Shape = tuple[int, ...]
Array = Shape | int
"""Known facts of an array: its shape, or its number of elements alone; 0: it may be no array."""

_FOLDING: Final = frozenset(
    ("sum", "mean", "prod", "max", "min", "std", "var", "any", "all", "argmax", "argmin")
)
"""Functions and methods that reduce along an axis, or everything."""
_REDUCING: Final = _FOLDING | {
    *("median", "ptp", "average", "count_nonzero", "dot", "vdot", "inner", "norm"),
    *("searchsorted", "percentile", "quantile", "trapezoid"),
}
"""NumPy's functions and methods whose results have fewer elements."""

_LIKE: Final = frozenset(
    ("copy", "astype", "asarray", "ascontiguousarray", "zeros_like", "ones_like", "empty_like")
)
"""Those whose results have the same shape, and take no longer than a copy."""
_ALIKE: Final = _LIKE | {
    *("ravel", "flatten", "reshape", "transpose", "view", "squeeze", "array"),
}
"""Those whose results have as many elements."""
_BROADCASTING: Final = frozenset(
    name for name, function in vars(np).items() if isinstance(function, np.ufunc)
) - {"matmul", "matvec", "vecmat", "vecdot"} | {"where", "clip"}
"""Functions whose operands are broadcast."""
MOST: Final = 1 << 40
"""Work of a call that is too much for any."""
_FILLED: Final = frozenset(("zeros", "ones", "empty", "full"))
_DRAWN: Final = {"random": 0, "standard_normal": 0, "normal": 2, "uniform": 2, "integers": 2}
"""Methods of NumPy's generators, and the number of the argument that is the shape."""
_MAKING: Final = _FILLED | _DRAWN.keys() | {"eye", "linspace", "arange", "meshgrid"}
"""Functions and methods that make arrays of a shape that is given."""
_INTEGERS: Final[Mapping[type[ast.operator], Callable[[int, int], int]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


@functools.lru_cache(maxsize=1024)  # a memo of a pure question
def tree_of(code: types.CodeType) -> ast.FunctionDef | None:
    """The source of a function; None where it is not to be found, or defines something else."""
    try:
        lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
        (node,) = ast.parse(textwrap.dedent("".join(inspect.getblock(lines)))).body
    except (RecursionError, SyntaxError, TokenError, ValueError):
        return None
    return node if isinstance(node, ast.FunctionDef) and node.name == code.co_name else None


def array_work(
    tree: ast.FunctionDef,
    arrays: Mapping[str, Shape],
    integers: Mapping[str, int],
    computing: frozenset[str],
) -> int:
    """Work of a call with whole arrays, in calls of NumPy on a few elements.

    Args:
        tree: The function.
        arrays: Shapes of the arrays that names hold at first.
        integers: Integers that names hold.
        computing: Names of functions and methods that compute with whole arrays.

    """
    estimate = _Estimate(arrays, integers, computing)
    with suppress(OverflowError, RecursionError):  # the program's own shapes, or expressions
        estimate.statements(tree.body)
    return min(estimate.work, MOST)


def work_of_call(
    code: types.CodeType | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    computing: frozenset[str],
    *,
    large: bool,
) -> int:
    """Estimate the same for a call of a function; 0 if its source is not found.

    ``large``: its arrays are so large that loops over them count; else it is 0 unless the function
    may make large ones.
    """
    tree = tree_of(code) if code is not None and (large or may_grow(code)) else None
    if code is None or tree is None:
        return 0
    given = dict(zip(code.co_varnames[: code.co_argcount], args, strict=False)) | dict(kwargs)
    arrays = {name: value.shape for name, value in given.items() if type(value) is np.ndarray}
    integers = {name: value for name, value in given.items() if type(value) is int}
    return _work_of(tree, tuple(arrays.items()), tuple(integers.items()), computing)


@functools.lru_cache(maxsize=256)  # a memo of a pure question
def _work_of(
    tree: ast.FunctionDef,
    arrays: tuple[tuple[str, Shape], ...],
    integers: tuple[tuple[str, int], ...],
    computing: frozenset[str],
) -> int:
    return array_work(tree, dict(arrays), dict(integers), computing)


@functools.lru_cache(maxsize=1024)  # a memo of a pure question
def may_grow(code: types.CodeType) -> bool:
    """True if a function may make large arrays of small ones, or of integers.

    It indexes several axes at once, which is how arrays are broadcast, or names a function that
    makes arrays.
    """
    if not _MAKING.isdisjoint(code.co_names):
        return True
    codes = [const for const in code.co_consts if isinstance(const, types.CodeType)]
    before = None
    for instruction in dis.get_instructions(code):
        indexes = instruction.opname == "BINARY_SUBSCR" or instruction.argrepr == "[]"
        if indexes and before is not None:
            is_constant = before.opname == "LOAD_CONST" and isinstance(before.argval, tuple)
            if is_constant or before.opname == "BUILD_TUPLE":
                return True
        before = instruction
    return any(map(may_grow, codes))


class _Estimate:
    """Known facts of names so far, and the work so far."""

    def __init__(
        self, arrays: Mapping[str, Shape], integers: Mapping[str, int], computing: frozenset[str]
    ) -> None:
        self.arrays: dict[str, Array] = dict(arrays)
        self.integers: dict[str, int | None] = dict(integers)
        """Names that hold integers, and the values that are known."""
        self.computing = computing
        self.work, self.times = 0, 1

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                self.assign(targets, value)
            case ast.AugAssign(target=target, value=value):
                self.compute(self.array(target), self.array(value), broadcast=False)
                if isinstance(target, ast.Name):
                    self.integers.pop(target.id, None)
            case ast.Expr(value=value):
                self.array(value)
            case ast.For(body=body):
                times = self.iterations(node.iter)
                self.bind(node.target, 0)
                if isinstance(node.target, ast.Name) and _is_range(node.iter):
                    self.integers[node.target.id] = None
                self.repeat(body, min(times, FEW) if _may_end(node) else times)
            case ast.While(body=body):
                self.repeat(body, FEW)
            case ast.With(body=body):
                self.statements(body)
            case ast.Return(value=ast.expr() as value):
                self.array(value)
            case _:
                for name in _bound(node):
                    self.arrays.pop(name, None)
                    self.integers.pop(name, None)

    def assign(self, targets: list[ast.expr], value: ast.expr) -> None:
        match targets, value:
            case [ast.Tuple(elts=targets)], ast.Tuple(elts=values) if len(targets) == len(values):
                known = [(self.array(each), self.integer(each)) for each in values]
                for each, (found, number) in zip(targets, known, strict=True):
                    self.bind(each, found, number)
            case (
                [ast.Tuple(elts=targets)],
                ast.Call(func=ast.Attribute(attr="meshgrid"), args=args, keywords=[]),
            ):
                grid = tuple(_size(self.array(each)) for each in args)
                for each in targets:
                    self.bind(each, (*grid[:2][::-1], *grid[2:]) if all(grid) else 0)
            case _:
                found, number = self.array(value), self.integer(value)
                for target in targets:
                    self.bind(target, found, number)

    def repeat(self, body: Iterable[ast.stmt], times: int) -> None:
        before, self.times = self.times, self.times * times
        self.statements(body)
        self.times = before

    def iterations(self, iterated: ast.expr) -> int:
        match iterated:
            case ast.Call(func=ast.Name(id="range"), args=[stop]):
                return max(0, self.integer(stop, FEW))
            case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
                return max(0, self.integer(stop, FEW) - self.integer(start, 0))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return len(items)
        return FEW

    @overload
    def integer(self, node: ast.expr) -> int | None: ...
    @overload
    def integer(self, node: ast.expr, otherwise: int) -> int: ...
    def integer(self, node: ast.expr, otherwise: int | None = None) -> int | None:
        """Value of an integer expression of constants, names, lengths and extents."""
        found = None
        match node:
            case ast.Constant(value=int(value)):
                found = value
            case ast.Name(id=name):
                found = self.integers.get(name)
            case ast.Call(func=ast.Name(id="len"), args=[of]):
                found = self.extent(of, 0)
            case ast.Subscript(
                value=ast.Attribute(value=of, attr="shape"), slice=ast.Constant(value=int(axis))
            ):
                found = self.extent(of, axis)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                positive = self.integer(operand)
                found = None if positive is None else -positive
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _INTEGERS:
                sides = self.integer(left), self.integer(right)
                if sides[0] is not None and sides[1] is not None:
                    found = _INTEGERS[type(op)](sides[0], sides[1])
        return otherwise if found is None else found

    def extent(self, node: ast.expr, axis: int) -> int | None:
        shape = self.arrays.get(node.id) if isinstance(node, ast.Name) else None
        known = isinstance(shape, tuple) and -len(shape) <= axis < len(shape)
        return shape[axis] if known and isinstance(shape, tuple) else None

    def bind(self, target: ast.expr, found: Array, number: int | None = None) -> None:
        if isinstance(target, ast.Subscript):
            self.compute(self.array(target))
            return
        for name in _bound(target):
            self.arrays.pop(name, None)
            self.integers.pop(name, None)
        if isinstance(target, ast.Name):
            self.arrays[target.id] = found
            if number is not None:
                self.integers[target.id] = number

    def compute(self, *operands: Array, broadcast: bool = True) -> Array:
        """Count an operation; return the known facts of its result."""
        found: Array = max(map(_size, operands), default=0)
        shapes = [each for each in operands if isinstance(each, tuple)]
        if broadcast and shapes and all(isinstance(each, tuple) or not each for each in operands):
            with suppress(ValueError):
                found = np.broadcast_shapes(*shapes)
        self.work += self.times * (_size(found) // ELEMENTS)
        return found

    def array(self, node: ast.expr) -> Array:
        """Return the known facts of an expression's value; count its operations."""
        match node:
            case ast.Name(id=name):
                return self.arrays.get(name, 0)
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                self.compute(*(sides := (self.array(left), self.array(right))), broadcast=False)
                return _product(*sides)
            case ast.BinOp(left=left, right=right):
                return self.compute(self.array(left), self.array(right))
            case ast.UnaryOp(operand=operand):
                return self.compute(self.array(operand))
            case ast.Compare(left=left, comparators=others):
                return self.compute(self.array(left), *map(self.array, others))
            case ast.Attribute(value=value, attr="T"):
                found = self.array(value)
                return found[::-1] if isinstance(found, tuple) else found
            case ast.Attribute(value=value, attr="real" | "imag"):
                return self.array(value)
            case ast.Subscript(value=value, slice=index):
                return self.part(self.array(value), index)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                for each in items:
                    self.array(each)
        return 0

    def part(self, whole: Array, index: ast.expr) -> Array:
        """Return the known facts of a part of an array: by slices, integers and new axes."""
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not isinstance(whole, tuple):
            return whole if all(map(_is_margin, parts)) else 0
        rest, found = list(whole), list[int]()
        axes = sum(not _is_new_axis(each) and not _is_rest(each) for each in parts)
        for each in parts:
            if _is_rest(each):
                count = len(rest) - (axes - (len(whole) - len(rest)))
                found += rest[:count]
                del rest[:count]
            elif _is_new_axis(each):
                found.append(1)
            elif not rest:
                return 0
            elif isinstance(each, ast.Slice):
                bounds = [self.integer(at) for at in (each.lower, each.upper) if at is not None]
                if each.step is not None or None in bounds:
                    return 0
                ends = slice(*(None if at is None else self.integer(at) for at in _bounds(each)))
                found.append(len(range(rest.pop(0))[ends]))
            elif self.integer(each) is not None or self.is_integer(each):
                rest.pop(0)
            else:
                return 0
        return (*found, *rest)

    def is_integer(self, node: ast.expr) -> bool:
        """True if an index is an integer, whatever its value."""
        match node:
            case ast.Name(id=name):
                return name in self.integers
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.is_integer(operand)
            case ast.BinOp(left=left, right=right):
                return self.is_integer(left) and self.is_integer(right)
        return isinstance(node, ast.Constant) and type(node.value) is int

    def call(self, node: ast.Call) -> Array:
        operands = [self.array(each) for each in node.args]
        named = {each.arg: each.value for each in node.keywords}
        operands += [self.array(each) for each in named.values()]
        of_module = False
        match node.func:
            case ast.Attribute(value=value, attr=name):
                of_module = isinstance(value, ast.Name) and value.id not in self.arrays
                operands.insert(0, self.array(value))
            case ast.Name(id=name):
                of_module = True
            case _:
                return 0
        if name in _ALIKE:
            same = name in _LIKE and bool(operands)
            found = operands[isinstance(node.func, ast.Attribute) and of_module :][:1]
            return found[0] if same and found else max(map(_size, operands), default=0)
        if name in _MAKING and not any(operands[:1]):
            return self.made(name, node.args, named)
        if name not in self.computing:
            return 0
        result = self.compute(*operands, broadcast=name in _BROADCASTING)
        if name in _FOLDING:
            given = node.args[of_module:]
            shape = next((each for each in operands if each), 0)
            return _folded(shape, named.get("axis", given[0] if given else None), named)
        return 0 if name in _REDUCING else result

    def made(self, name: str, args: list[ast.expr], named: Mapping[str | None, ast.expr]) -> Array:
        """Return the shape of a new array; random numbers count as an operation."""
        given = dict(enumerate(args))
        if name in _FILLED:
            return self.shape(named.get("shape", given.get(0)))
        if name in _DRAWN:
            return self.compute(self.shape(named.get("size", given.get(_DRAWN[name]))))
        if name == "eye":
            return 2 * self.shape(given.get(0)) if len(args) == 1 else 0
        count = named.get("num", given.get(2)) if name == "linspace" else given.get(0)
        return self.shape(count) if name == "linspace" or len(args) == 1 else 0

    def shape(self, node: ast.expr | None) -> Shape:
        """Return the shape that an expression means; that of no elements if it is not known."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="shape"):
                found = self.arrays.get(name)
                return found if isinstance(found, tuple) else (0,)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                pass
            case None:
                items = []
            case _:
                items = [node]
        return tuple(max(0, self.integer(each, 0)) for each in items)


def _size(array: Array) -> int:
    return math.prod(array) if isinstance(array, tuple) else array


def _product(left: Array, right: Array) -> Array:
    """Return the shape of a product of matrices and vectors; 0 if it is not known."""
    if not (isinstance(left, tuple) and isinstance(right, tuple) and left and right):
        return 0
    if len(left) > 2 or len(right) > 2:
        return 0
    return (*left[:-1], *right[1:])


def _folded(shape: Array, axis: ast.expr | None, named: Mapping[str | None, ast.expr]) -> Array:
    """Return the shape of a reduction along an axis; 0 if it is not known, or a scalar."""
    if not isinstance(shape, tuple) or axis is None or "keepdims" in named:
        return 0
    try:
        number = ast.literal_eval(axis)
        return (*shape[: (number % len(shape))], *shape[number % len(shape) + 1 :])
    except (TypeError, ValueError, ZeroDivisionError):
        return 0


def _is_range(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"
    )


def _is_new_axis(node: ast.expr) -> bool:
    none = isinstance(node, ast.Constant) and node.value is None
    return none or (isinstance(node, ast.Attribute) and node.attr == "newaxis")


def _is_rest(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _bounds(part: ast.Slice) -> tuple[ast.expr | None, ...]:
    return part.lower, part.upper


def _is_margin(part: ast.expr) -> bool:
    """True if an index leaves nearly all elements: a slice that cuts constant margins."""
    match part:
        case ast.Slice(lower=lower, upper=upper, step=None):
            begins = lower is None or isinstance(lower, ast.Constant)
            ends = upper is None or isinstance(upper, ast.UnaryOp)
            return begins and ends
    return _is_new_axis(part) or _is_rest(part)


def _may_end(loop: ast.For) -> bool:
    """True if a loop may end before its last iteration."""
    return any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(loop))


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
