"""What is made of all elements of a row or a column: sums and products, turns, chosen elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from matlab_frontend import nodes
from matlab_frontend.builtins.registry import Builtin
from matlab_frontend.interpreter.native.classes import ArrayClass, Kind, Made, NotNative, Operand
from matlab_frontend.interpreter.native.expressions import constant, literal
from matlab_frontend.interpreter.native.functions import divide, known, root_of_squares, to_single
from matlab_frontend.interpreter.native.vectors import Along, Vectors
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
                if self.is_matrix(left):
                    return ways[1] if ways[1] == "column" else None
                if self.is_matrix(right):
                    return ways[0] if ways[0] == "row" else None
                return None if ways == ("row", "column") else ways[0] or ways[1]
            case nodes.Matrix():
                found = turned_by(node)
                along = None if found is None else self.along_of(found[0])
                return along if (along == "row") == (len(node.rows) == 1) else None
            case nodes.Index(target=nodes.Name(name=name), arguments=(of,)) if of == self.mask:
                return self.along_of(name)
            case nodes.Index(target=nodes.Name(name="max" | "min" as name), arguments=(_,)):
                if self.is_builtin(name):
                    return None  # a number
            case nodes.Index(target=nodes.Name(name="circshift"), arguments=(of, _)):
                return self.along(of) if self.is_builtin("circshift") else None
        return super().along(node)

    def is_builtin(self, name: str) -> bool:
        """Whether a name is that of a builtin here."""
        taken = name in self.classes or name in self.made or name in self.kinds
        return not taken and isinstance(self.shared.find(name, self.scope), Builtin)

    def is_matrix(self, node: nodes.Expression) -> bool:
        """Whether an expression is a matrix by its name, or that one transposed."""
        match node:
            case nodes.Parenthesized(expression=inner) | nodes.Postfix(operand=inner):
                return self.is_matrix(inner)
            case nodes.Name(name=name):
                found = self.classes.get(name)
                if isinstance(found, ArrayClass):
                    return found.axes == 2 and not (found.is_row or found.is_column)
        return False

    # -- expressions -------------------------------------------------------------------------------
    def elements(self, node: nodes.Expression) -> Made:
        if self.along(node) is not None:
            match node:
                case nodes.Binary(operator="*", left=left, right=right):
                    if self.is_matrix(left):
                        return self.product_with(left, right, from_left=True)
                    if self.is_matrix(right):
                        return self.product_with(right, left, from_left=False)
                case nodes.Matrix():
                    name, by = turned_by(node) or ("", 0)
                    return self.turned(Made(self.vector(name), self.kind_of(name)), constant(by))
                case nodes.Index(target=nodes.Name(name=name), arguments=(of,)) if of == self.mask:
                    return Made(self.vector(name), self.kind_of(name))
                case nodes.Index(target=nodes.Name(name="circshift"), arguments=(of, by)):
                    return self.turned(self.elements(of), self.whole(by))
        return super().elements(node)

    def turned(self, made: Made, by: ast.expr) -> Made:
        """A vector whose elements have gone on by so many places, those at the end to its begin."""
        return Made(self.numpy("roll", made.node, by), made.kind)

    def product_with(
        self, matrix: nodes.Expression, vector: nodes.Expression, *, from_left: bool
    ) -> Made:
        """A matrix times a column, or a row times a matrix."""
        transposed = False
        while not isinstance(matrix, nodes.Name):
            transposed ^= isinstance(matrix, nodes.Postfix)
            assert isinstance(matrix, nodes.Postfix | nodes.Parenthesized), "the caller looked"
            matrix = matrix.operand if isinstance(matrix, nodes.Postfix) else matrix.expression
        name, made = matrix.name, self.elements(vector)
        kind = self.kind_of(name)
        if made.kind != kind or kind == "logical" or self.subscripts.get(name, {2}) != {2}:
            raise NotNative("a product of a matrix and a vector of other classes", matrix.span)
        array = self.shared.operand(f"a_{name}", Operand("data", name))  # its axes in reverse
        first = from_left != transposed
        return Made(
            self.numpy("matmul", *((made.node, array) if first else (array, made.node))), kind
        )

    def binary(self, node: nodes.Binary) -> Made:
        """A row times a column is a number."""
        if node.operator != "*" or (self.along(node.left), self.along(node.right)) != (
            "row",
            "column",
        ):
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
        if name == "dot" and len(ways) == 2 and None not in ways:
            one, other = node.arguments
            return self.dot(one, other, node.span)
        handler = _NUMBERS.get(name)
        if handler is None or len(ways) != 1 or ways[0] is None:
            return super().of_builtin(name, node)
        (argument,) = node.arguments
        is_given = isinstance(argument, nodes.Name) and not self.is_bound_here(argument.name)
        if handler is Wholes.extent_of and is_given:
            return super().of_builtin(name, node)
        return handler(self, name, self.elements(argument))

    def extent_of(self, name: str, made: Made) -> Made:
        del name
        part = ast.Call(self.shared.basic("len"), [made.node], [])
        return Made(self.float(part), "double", part)

    def total(self, name: str, made: Made) -> Made:
        del name
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        return Made(self.float(self.numpy("sum", value)), kind)

    def mean(self, name: str, made: Made) -> Made:
        del name
        if made.kind != "double":
            raise NotNative("a mean of another class")
        total = self.float(self.numpy("sum", made.node))
        return self.called(divide, total, self.extent_of("", made).node)

    def extreme(self, name: str, made: Made) -> Made:
        """``max`` and ``min``, which leave NaN out: where there is one, the loop leaves."""
        if made.kind == "logical":
            raise NotNative(f"{name} of truth values")
        found = self.float(self.numpy("amax" if name == "max" else "amin", made.node))
        return Made(self.called(known, found).node, made.kind)

    def truth_of_all(self, name: str, made: Made) -> Made:
        """``any`` and ``all``."""
        if made.kind != "logical":
            raise NotNative(f"{name} of numbers")
        return Made(
            ast.Call(self.shared.basic("bool"), [self.numpy(name, made.node)], []), "logical"
        )

    def norm(self, name: str, made: Made) -> Made:
        del name
        if made.kind != "double":
            raise NotNative("a norm of another class")
        return self.called(root_of_squares, self.float(self.numpy("dot", made.node, made.node)))

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
        """Whether an expression is made of elements chosen by the mask, and of numbers."""
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


_Handler: TypeAlias = Callable[[Wholes, str, Made], Made]
_NUMBERS: Final[Mapping[str, _Handler]] = {
    "sum": Wholes.total,
    **dict.fromkeys(("max", "min"), Wholes.extreme),
    **dict.fromkeys(("any", "all"), Wholes.truth_of_all),
    **dict.fromkeys(("numel", "length"), Wholes.extent_of),
    "mean": Wholes.mean,
    "norm": Wholes.norm,
}
"""Builtins that make a number of a vector."""
