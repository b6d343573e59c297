"""Estimates the work of a function's calls with whole arrays from its source.

The estimate is low: branches count nothing, nor do values that may be no whole arrays.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.core.hotness import ELEMENTS, FEW

_REDUCING: Final = frozenset(
    (
        *("sum", "mean", "prod", "max", "min", "std", "var", "median", "ptp", "average"),
        *("any", "all", "argmax", "argmin", "count_nonzero", "dot", "vdot", "inner", "norm"),
        *("searchsorted", "percentile", "quantile", "trapezoid"),
    )
)
"""NumPy's functions and methods whose results have fewer elements."""

_ALIKE: Final = frozenset(
    (
        *("copy", "astype", "ravel", "flatten", "reshape", "transpose", "view", "squeeze"),
        *("asarray", "ascontiguousarray", "array", "zeros_like", "ones_like", "empty_like"),
    )
)
"""Those whose results have as many elements, and take no longer than a copy."""


@functools.lru_cache(maxsize=1024)  # a memo of a pure question
def tree_of(code: types.CodeType) -> ast.FunctionDef | None:
    """The source of a function; None where it is not to be found, or defines something else."""
    try:
        lines, _ = inspect.getsourcelines(code)
        (node,) = ast.parse(textwrap.dedent("".join(lines))).body
    except (OSError, SyntaxError, TypeError, ValueError):
        return None
    return node if isinstance(node, ast.FunctionDef) and node.name == code.co_name else None


def array_work(
    tree: ast.FunctionDef,
    arrays: Mapping[str, int],
    integers: Mapping[str, int],
    computing: frozenset[str],
) -> int:
    """Work of a call with whole arrays, in calls of NumPy on a few elements.

    Args:
        tree: The function.
        arrays: Elements of the arrays that names hold at first.
        integers: Integers that names hold.
        computing: Names of functions and methods that compute with whole arrays.

    """
    estimate = _Estimate(arrays, integers, computing)
    estimate.statements(tree.body)
    return estimate.work


def work_of_call(
    code: types.CodeType | None,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    computing: frozenset[str],
) -> int:
    """The same of a call of a function with some code; 0 where its source is not found."""
    tree = None if code is None else tree_of(code)
    if code is None or tree is None:
        return 0
    given = dict(zip(code.co_varnames[: code.co_argcount], args, strict=False)) | dict(kwargs)
    arrays = {name: value.size for name, value in given.items() if type(value) is np.ndarray}
    integers = {name: value for name, value in given.items() if type(value) is int}
    return array_work(tree, arrays, integers, computing)


class _Estimate:
    """Elements of the arrays that names hold so far, and the work so far."""

    def __init__(
        self, arrays: Mapping[str, int], integers: Mapping[str, int], computing: frozenset[str]
    ) -> None:
        self.arrays, self.integers, self.computing = dict(arrays), dict(integers), computing
        self.work, self.times = 0, 1

    def statements(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                elements = self.elements(value)
                for target in targets:
                    self.bind(target, elements)
            case ast.AugAssign(target=target, value=value):
                self.compute(self.elements(target), self.elements(value))
            case ast.Expr(value=value):
                self.elements(value)
            case ast.For(body=body):
                self.bind(node.target, 0)
                times = self.iterations(node.iter)
                self.repeat(body, min(times, FEW) if _may_end(node) else times)
            case ast.While(body=body):
                self.repeat(body, FEW)
            case ast.With(body=body):
                self.statements(body)
            case ast.Return(value=ast.expr() as value):
                self.elements(value)
            case _:
                for name in _bound(node):
                    self.arrays.pop(name, None)
                    self.integers.pop(name, None)

    def repeat(self, body: Iterable[ast.stmt], times: int) -> None:
        before, self.times = self.times, self.times * times
        self.statements(body)
        self.times = before

    def iterations(self, iterated: ast.expr) -> int:
        match iterated:
            case ast.Call(func=ast.Name(id="range"), args=[stop]):
                return self.integer(stop, FEW)
            case ast.Call(func=ast.Name(id="range"), args=[start, stop]):
                return max(0, self.integer(stop, FEW) - self.integer(start, 0))
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return len(items)
        return FEW

    def integer(self, node: ast.expr, otherwise: int) -> int:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return self.integers.get(name, otherwise)
        return otherwise

    def bind(self, target: ast.expr, elements: int) -> None:
        if isinstance(target, ast.Name):
            self.arrays[target.id] = elements
            self.integers.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            self.compute(self.elements(target))
        else:
            for name in _bound(target):
                self.arrays.pop(name, None)
                self.integers.pop(name, None)

    def compute(self, *operands: int) -> int:
        """Count an operation; the elements of its result."""
        elements = max(operands, default=0)
        self.work += self.times * (elements // ELEMENTS)
        return elements

    def elements(self, node: ast.expr) -> int:
        """Elements of an expression, and count its operations; 0: no array, as far as is known."""
        match node:
            case ast.Name(id=name):
                return self.arrays.get(name, 0)
            case ast.BinOp(left=left, right=right):
                return self.compute(self.elements(left), self.elements(right))
            case ast.UnaryOp(operand=operand):
                return self.compute(self.elements(operand))
            case ast.Compare(left=left, comparators=others):
                return self.compute(self.elements(left), *map(self.elements, others))
            case ast.Attribute(value=value, attr="T" | "real" | "imag"):
                return self.elements(value)
            case ast.Subscript(value=value, slice=index):
                return self.elements(value) if _is_whole(index) else 0
            case ast.Call():
                return self.call(node)
        return 0

    def call(self, node: ast.Call) -> int:
        operands = [self.elements(each) for each in node.args]
        operands += [self.elements(each.value) for each in node.keywords]
        match node.func:
            case ast.Attribute(value=value, attr=name):
                operands.append(self.elements(value))
            case ast.Name(id=name):
                pass
            case _:
                return 0
        if name in _ALIKE:
            return max(operands, default=0)
        if name not in self.computing:
            return 0
        elements = self.compute(*operands)
        return 0 if name in _REDUCING else elements


def _is_whole(index: ast.expr) -> bool:
    """True if an index leaves nearly all elements: slices that cut constant margins."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return all(_is_margin(part) for part in parts)


def _is_margin(part: ast.expr) -> bool:
    match part:
        case ast.Slice(lower=lower, upper=upper, step=None):
            begins = lower is None or isinstance(lower, ast.Constant)
            ends = upper is None or isinstance(upper, ast.UnaryOp)
            return begins and ends
        case ast.Constant(value=value):
            return value is None or value is Ellipsis
    return False


def _may_end(loop: ast.For) -> bool:
    """True if a loop may end before its last iteration."""
    return any(isinstance(each, ast.Break | ast.Return) for each in ast.walk(loop))


def _bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
