"""Operations on all elements of a row or a column: sums, products, reversals, selections."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin
from matlab_frontend.interpreter.native.classes import Kind, Made, NotNative
from matlab_frontend.interpreter.native.expressions import constant, literal
from matlab_frontend.interpreter.native.functions import (
    divide,
    greatest,
    greatest_along,
    greatest_of_all,
    least,
    least_along,
    least_of_all,
    root_of_squares,
    to_single,
)
from matlab_frontend.interpreter.native.vectors import Along, Vectors, together
from matlab_frontend.source import Span


class Wholes(Vectors):
    """Translates operations on all elements of a vector.

    Attributes:
        mask: The truth values by which elements are chosen here.
        has_masks: Elements are stored to where a mask says so, which has as many as the array.

    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.mask: nodes.Expression | None = None
        self.has_masks = False

    # -- what is a vector --------------------------------------------------------------------------
    def along(self, node: nodes.Expression) -> Along | None:
        match node:
            case nodes.Binary(operator="*", left=left, right=right):
                ways = self.along(left), self.along(right)
                return _PRODUCTS[ways] if ways in _PRODUCTS else together(*ways)
            case nodes.Matrix():
                found = turned_by(node)
                along = None if found is None else self.along_of(found[0])
                if along is None:
                    return self.along_of_numbers(node)
                return along if (along == "row") == (len(node.rows) == 1) else None
            case nodes.Index(target=nodes.Name(name=name), arguments=(of,)) if of == self.mask:
                return self.along_of(name)
            case nodes.Index(
                target=nodes.Name(name="max" | "min" as name),
                arguments=(of,) | (of, nodes.Matrix(rows=()), _) as given,
            ):
                if self.is_builtin(name):  # a number, or one for each column or row of a matrix
                    return _KEPT.get(axis_of(given)) if self.along(of) == "matrix" else None
            case nodes.Index(target=nodes.Name(name="circshift"), arguments=(of, *_)):
                return self.along(of) if self.is_builtin("circshift") else None
            case nodes.Index(target=nodes.Name(name="sum" | "mean" as name), arguments=(of, *rest)):
                if self.along(of) == "matrix" and self.is_builtin(name):
                    return "column" if rest and literal(rest[0]) == 2.0 else "row"
            case nodes.Index(target=nodes.Name(name="repmat"), arguments=(of, _, _)):
                known = self.is_builtin("repmat") and self.along(of) in ("row", "column")
                return "matrix" if known else None
        return super().along(node)

    def along_of_numbers(self, node: nodes.Matrix) -> Along | None:
        """What ``[a, b]`` and ``[a; b]`` are, of numbers."""
        if any(self.along(each) is not None for row in node.rows for each in row):
            return None
        match [len(row) for row in node.rows]:
            case [several] if several > 1:
                return "row"
            case [1, 1, *rest] if all(count == 1 for count in rest):
                return "column"
        return None

    def is_builtin(self, name: str) -> bool:
        """True if a name is that of a builtin here."""
        taken = name in self.classes or name in self.made or name in self.kinds
        return not taken and isinstance(self.shared.find(name, self.scope), Builtin)

    # -- expressions -------------------------------------------------------------------------------
    def elements(self, node: nodes.Expression) -> Made:
        if self.along(node) is not None:
            match node:
                case nodes.Binary(operator="*", left=left, right=right):
                    ways = self.along(left), self.along(right)
                    if None not in ways and ways != ("column", "row"):
                        return self.product(left, right, node.span)
                case nodes.Matrix():
                    name, by = turned_by(node) or ("", 0)
                    if self.along_of(name) is None:
                        return self.of_numbers(node)
                    return self.turned(Made(self.vector(name), self.kind_of(name)), constant(by))
                case nodes.Index(target=nodes.Name(name=name), arguments=(of,)) if of == self.mask:
                    return Made(self.vector(name), self.kind_of(name))
                case nodes.Index(target=nodes.Name(name="circshift")):
                    return self.circshift(node)
                case nodes.Index(target=nodes.Name(name="sum" | "mean" as name)):
                    return self.along_axis(name, node)
                case nodes.Index(
                    target=nodes.Name(name="max" | "min" as name),
                    arguments=(of,) | (of, nodes.Matrix(rows=()), _) as given,
                ):
                    return self.extremes(name, of, axis_of(given), node.span)
                case nodes.Index(target=nodes.Name(name="repmat")):
                    raise NotNative("a repeated row or column by itself", node.span)
        return super().elements(node)

    def of_numbers(self, node: nodes.Matrix) -> Made:
        """``[a, b]`` and ``[a; b]`` of doubles."""
        parts = [self.value(each) for row in node.rows for each in row]
        if any(part.kind != "double" for part in parts):
            raise NotNative("a row or a column of what are no doubles", node.span)
        listed = ast.List([part.node for part in parts], ast.Load())
        return Made(self.numpy("array", listed), "double")

    def turned(self, made: Made, by: ast.expr) -> Made:
        """A vector whose elements have gone on by so many places, those at the end to its begin."""
        return Made(self.numpy("roll", made.node, by), made.kind)

    def circshift(self, node: nodes.Index) -> Made:
        """Of a vector by a number; of a matrix by two, or by one along an axis."""
        of, *rest = node.arguments
        made, along = self.elements(of), self.along(of)
        match rest:
            case [by] if along in ("row", "column"):
                return self.turned(made, self.whole(by))
            case [nodes.Matrix(rows=((down, right),))] if along == "matrix":
                found = Made(
                    self.numpy("roll", made.node, self.whole(down), constant(1)), made.kind
                )
                return Made(
                    self.numpy("roll", found.node, self.whole(right), constant(0)), made.kind
                )
            case [by, axis] if along == "matrix" and literal(axis) in (1.0, 2.0):
                place = constant(1 if literal(axis) == 1.0 else 0)
                return Made(self.numpy("roll", made.node, self.whole(by), place), made.kind)
        raise NotNative("circshift with other arguments", node.span)

    def along_axis(self, name: str, node: nodes.Index) -> Made:
        """``sum`` and ``mean`` of each column or row of a matrix."""
        of, *rest = node.arguments
        axis = literal(rest[0]) if rest else 1.0
        is_named = name == "sum" or isinstance(of, nodes.Name)
        if len(rest) > 1 or axis not in (1.0, 2.0) or not is_named:
            raise NotNative(f"{name} with other arguments", node.span)
        made = self.elements(of)
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        total = self.numpy("sum", value, constant(1 if axis == 1.0 else 0))
        if isinstance(of, nodes.Name) and name == "mean":
            if kind == "single":
                raise NotNative("a mean of singles", node.span)
            count = self.extent(of.name, 0 if axis == 1.0 else 1, 2, node.span)
            total = ast.BinOp(total, ast.Div(), count.node)
        return Made(total, kind)

    def extremes(self, name: str, of: nodes.Expression, axis: float | None, span: Span) -> Made:
        """``max`` and ``min`` of each column or row; where there is NaN, the loop leaves."""
        made = self.elements(of)
        if made.kind == "logical" or axis not in _KEPT:
            raise NotNative(f"{name} with other arguments", span)
        find = greatest_along if name == "max" else least_along
        return Made(self.called(find, made.node, constant(1 if axis == 1.0 else 0)).node, made.kind)

    def beside(
        self, one: nodes.Expression, other: nodes.Expression, span: Span
    ) -> tuple[Made, Made]:
        """``repmat(row, m, 1)`` beside a matrix of m rows is the row; of a column likewise."""
        if self.is_repeated(one):
            y, x = self.beside(other, one, span)
            return x, y
        if not self.is_repeated(other):
            return super().beside(one, other, span)
        while isinstance(other, nodes.Parenthesized):
            other = other.expression
        assert isinstance(other, nodes.Index), "it is a call"
        of, *counts = other.arguments
        axis = 0 if self.along(of) == "row" else 1
        if literal(counts[1 - axis]) != 1.0 or not isinstance(one, nodes.Name):
            raise NotNative("a repeated row or column by itself", span)
        extent = self.extent(one.name, axis, 2, span).whole
        assert extent is not None, "it is an integer"
        fits = ast.Compare(self.whole(counts[axis]), [ast.Eq()], [extent])
        exactly = ast.Call(self.shared.basic("demand"), [fits, constant(1.0)], [])
        x, y = super().beside(one, of, span)
        return x, replace(y, node=ast.BinOp(y.node, ast.Mult(), exactly))

    def is_repeated(self, node: nodes.Expression) -> bool:
        """True if an expression is ``repmat`` of a row or a column."""
        match node:
            case nodes.Parenthesized(expression=inner):
                return self.is_repeated(inner)
            case nodes.Index(target=nodes.Name(name="repmat")):
                return self.along(node) == "matrix"
        return False

    def product(self, one: nodes.Expression, other: nodes.Expression, span: Span) -> Made:
        """A matrix product; the axes of matrices are in reverse."""
        ways = self.along(one), self.along(other)
        if ways not in _PRODUCTS or "matrix" not in ways:
            raise NotNative("a product of vectors that is a matrix", span)
        (x, x_turned), (y, y_turned) = self.factor(one), self.factor(other)
        if x.kind != y.kind or x.kind == "logical":
            raise NotNative("a product of arrays of other classes", span)
        if ways == ("matrix", "matrix"):
            left, right = (
                ast.Attribute(made.node, "T", ast.Load()) if turned else made.node
                for made, turned in ((y, y_turned), (x, x_turned))
            )
            self.has_parts = True  # its extents are those of others
            return Made(self.numpy("matmul", left, right), x.kind)
        matrix, vector = (x, y) if ways[0] == "matrix" else (y, x)
        first = (ways[0] == "matrix") != (x_turned or y_turned)
        nodes_ = (vector.node, matrix.node) if first else (matrix.node, vector.node)
        return Made(self.numpy("matmul", *nodes_), x.kind)

    def factor(self, node: nodes.Expression) -> tuple[Made, bool]:
        """An operand of a product, and whether that is a matrix to be transposed."""
        match node:
            case nodes.Parenthesized(expression=inner):
                return self.factor(inner)
            case nodes.Postfix(operand=inner) if self.along(inner) == "matrix":
                made, turned = self.factor(inner)
                return made, not turned
        return self.elements(node), False

    def binary(self, node: nodes.Binary) -> Made:
        """A row times a column is a number."""
        ways = self.along(node.left), self.along(node.right)
        if node.operator != "*" or ways != ("row", "column"):
            return super().binary(node)
        return self.dot(node.left, node.right, node.span)

    def dot(self, one: nodes.Expression, other: nodes.Expression, span: Span) -> Made:
        x, y = self.elements(one), self.elements(other)
        if x.kind != y.kind or x.kind == "logical":
            raise NotNative("a product of vectors of other classes", span)
        return Made(self.float(self.numpy("dot", x.node, y.node)), x.kind)

    # -- calls -------------------------------------------------------------------------------------
    def of_builtin(self, name: str, node: nodes.Index) -> Made:
        """Builtins that make a number of a row or a column."""
        ways = [self.along(each) for each in node.arguments]
        if name == "norm" and len(ways) == 2 and ways[0] in ("matrix", "all"):
            return self.frobenius(node)
        if name == "dot" and len(ways) == 2 and None not in ways and "matrix" not in ways:
            one, other = node.arguments
            return self.dot(one, other, node.span)
        handler = _NUMBERS.get(name)
        if handler is None or len(ways) != 1 or ways[0] is None:
            return super().of_builtin(name, node)
        if ways[0] == "matrix" and name != "numel":
            raise NotNative(f"{name} of a matrix", node.span)
        (argument,) = node.arguments
        is_given = isinstance(argument, nodes.Name) and not self.is_bound_here(argument.name)
        if handler is Wholes.extent_of and is_given:
            return super().of_builtin(name, node)
        return handler(self, name, self.elements(argument), ways[0])

    def over(self, name: str, node: ast.expr, along: Along) -> ast.expr:
        """A reduction of all elements: of matrices row by row, and then of those."""
        rows = self.numpy(name, node, constant(1)) if along in ("matrix", "all") else node
        return self.numpy(name, rows)

    def extent_of(self, name: str, made: Made, along: Along) -> Made:
        del name, along
        part: ast.expr = ast.Attribute(made.node, "size", ast.Load())
        return Made(self.float(part), "double", part)

    def total(self, name: str, made: Made, along: Along) -> Made:
        del name
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        return Made(self.float(self.over("sum", value, along)), kind)

    def mean(self, name: str, made: Made, along: Along) -> Made:
        del name
        if made.kind != "double":
            raise NotNative("a mean of another class")
        total = self.float(self.over("sum", made.node, along))
        return self.called(divide, total, self.extent_of("", made, along).node)

    def extreme(self, name: str, made: Made, along: Along) -> Made:
        """``max`` and ``min``, which leave NaN out: where there is one, the loop leaves."""
        if made.kind == "logical":
            raise NotNative(f"{name} of truth values")
        if along in ("row", "column"):
            find = greatest if name == "max" else least
        else:
            find = greatest_of_all if name == "max" else least_of_all
        return Made(self.called(find, made.node).node, made.kind)

    def truth_of_all(self, name: str, made: Made, along: Along) -> Made:
        """``any`` and ``all``."""
        if made.kind != "logical":
            raise NotNative(f"{name} of numbers")
        return Made(
            ast.Call(self.shared.basic("bool"), [self.over(name, made.node, along)], []), "logical"
        )

    def norm(self, name: str, made: Made, along: Along) -> Made:
        del name
        if made.kind != "double":
            raise NotNative("a norm of another class")
        squares = self.over("sum", self.numpy("square", made.node), along)
        return self.called(root_of_squares, self.float(squares))

    def frobenius(self, node: nodes.Index) -> Made:
        """``norm(A, 'fro')``."""
        of, which = node.arguments
        if not isinstance(which, nodes.CharLiteral) or which.text != "fro":
            raise NotNative("norm with other arguments", node.span)
        return self.norm("norm", self.elements(of), "matrix")

    # -- statements --------------------------------------------------------------------------------
    def store_chosen(self, target: nodes.Index, value: nodes.Expression) -> list[ast.stmt]:
        """``name(mask) = value``: a number, or what is made of elements chosen by the same mask."""
        assert isinstance(target.target, nodes.Name), "the caller looked"
        name, (chosen,) = target.target.name, target.arguments
        along, kind = self.along_of(name), self.kind_of(name)
        self.reads_part = False
        mask = self.elements(chosen)
        if self.inside or self.reads_part or self.along(chosen) != along or mask.kind != "logical":
            raise NotNative(f"elements of {name} that are chosen by another array", target.span)
        self.mask = chosen
        made, is_vector = self.elements(value), self.along(value) is not None
        if is_vector and not self.is_of_chosen(value):
            raise NotNative("an array in the place of elements that are chosen", target.span)
        self.mask = None
        if (made.kind == "logical") != (kind == "logical"):
            raise NotNative(f"{name} takes elements of another class", target.span)
        node = made.node if kind == "logical" else self.as_stored(made, kind, is_vector=is_vector)
        self.has_masks = True
        where = self.numpy("where", mask.node, node, self.vector(name))
        if self.is_bound_here(name):
            self.bound |= {name} & self.rebound
            return [ast.Assign([ast.Name(f"v_{name}", ast.Store())], where)]
        self.written.add(name)
        return [ast.Assign([ast.Subscript(self.vector(name), ast.Slice(), ast.Store())], where)]

    def as_stored(self, made: Made, kind: Kind, *, is_vector: bool) -> ast.expr:
        """A number or a vector as an array of a class holds it."""
        if is_vector:
            return self.as_class(made, kind, is_vector=True)
        exact = made.node if made.kind == "single" else self.as_float(made)
        return self.called(to_single, exact).node if kind == "single" else exact

    def is_of_chosen(self, node: nodes.Expression) -> bool:
        """True if an expression is made of elements chosen by the mask, and of numbers."""
        if self.along(node) is None:
            return True
        match node:
            case nodes.Index(target=nodes.Name(name=name), arguments=arguments):
                if self.along_of(name) is not None:
                    return arguments == (self.mask,)
                return name != "circshift" and all(map(self.is_of_chosen, arguments))
            case nodes.Binary(left=left, right=right):
                return self.is_of_chosen(left) and self.is_of_chosen(right)
            case nodes.Unary(operand=inner) | nodes.Parenthesized(expression=inner):
                return self.is_of_chosen(inner)
        return False


def turned_by(node: nodes.Matrix) -> tuple[str, int] | None:
    """The variable of ``[x(end), x(1:end-1)]`` or ``[x(2:end), x(1)]``, and how far it goes on."""
    match node.rows:
        case ((first, second),) | ((first,), (second,)):
            pass
        case _:
            return None
    match first, second:
        case (
            nodes.Index(target=nodes.Name(name=one), arguments=(nodes.End(),)),
            nodes.Index(
                target=nodes.Name(name=other),
                arguments=(nodes.Range(start=start, step=None, stop=nodes.Binary() as stop),),
            ),
        ) if one == other and literal(start) == 1.0:
            is_last = stop.operator == "-" and isinstance(stop.left, nodes.End)
            return (one, 1) if is_last and literal(stop.right) == 1.0 else None
        case (
            nodes.Index(
                target=nodes.Name(name=one),
                arguments=(nodes.Range(start=start, step=None, stop=nodes.End()),),
            ),
            nodes.Index(target=nodes.Name(name=other), arguments=(index,)),
        ) if one == other and literal(start) == 2.0 and literal(index) == 1.0:
            return one, -1
    return None


def axis_of(given: tuple[nodes.Expression, ...]) -> float | None:
    """The dimension that ``max(x)`` or ``max(x, [], dim)`` goes along, as far as it is known."""
    return 1.0 if len(given) == 1 else literal(given[2])


_KEPT: Final[Mapping[float | None, Along]] = {1.0: "row", 2.0: "column"}
"""What is left of a matrix by dimension."""
_PRODUCTS: Final[Mapping[tuple[Along | None, Along | None], Along | None]] = {
    ("row", "column"): None,  # a number
    ("matrix", "column"): "column",
    ("row", "matrix"): "row",
    ("matrix", "matrix"): "matrix",
}
"""What products of arrays are."""
_Handler: TypeAlias = Callable[[Wholes, str, Made, Along], Made]
_NUMBERS: Final[Mapping[str, _Handler]] = {
    "sum": Wholes.total,
    **dict.fromkeys(("max", "min"), Wholes.extreme),
    **dict.fromkeys(("any", "all"), Wholes.truth_of_all),
    **dict.fromkeys(("numel", "length"), Wholes.extent_of),
    "mean": Wholes.mean,
    "norm": Wholes.norm,
}
"""Builtins that make a number of a vector."""
