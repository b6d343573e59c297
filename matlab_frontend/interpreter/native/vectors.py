"""Rows, columns and matrices as a whole: arrays with one axis or two, in loops of Python's syntax.

A variable that is a row or a column, and a row, a column or a part of one in a matrix, become
arrays with one axis; which of both they are is known before the loop. Matrices are arrays as the
engine holds them. An array that the loop binds is stored to by no other name: names may share one
that none stores to, and are given copies of others.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from matlab_frontend import nodes
from matlab_frontend.builtins.elementwise import FUNCTIONS, ROUNDINGS, below_zero
from matlab_frontend.builtins.registry import Builtin
from matlab_frontend.interpreter.captures import below, names_in
from matlab_frontend.interpreter.native.classes import (
    ArrayClass,
    Filled,
    Kind,
    Made,
    NotNative,
    Operand,
    VariableClass,
)
from matlab_frontend.interpreter.native.expressions import (
    ARITHMETIC,
    COMPARISONS,
    Expressions,
    constant,
    literal,
    load,
    plus,
)
from matlab_frontend.interpreter.native.functions import DRAWS, to_single
from matlab_frontend.interpreter.native.lengths import leaves_of, lengths_of, may_be_stored
from matlab_frontend.source import Span

Along: TypeAlias = Literal["row", "column", "matrix", "all"]
"""What an array is; ``all``: the elements of a matrix one after the other, as ``A(:)``."""
_FLOATS: Final[Mapping[str, Any]] = {"double": np.float64, "single": np.float32}
_OF_EACH: Final[Mapping[str, str]] = {
    "abs": "absolute",
    **{each.name: each.row for each in (*FUNCTIONS, *ROUNDINGS) if each.leaves_reals is None},
}
"""Builtins of each element that are NumPy's functions."""
_OF_NONNEGATIVE: Final[Mapping[str, str]] = {
    each.name: each.row for each in FUNCTIONS if each.leaves_reals is below_zero
}
"""The same, of which numbers below zero have complex values: NumPy reports those as invalid."""
_OF_TWO: Final[Mapping[str, str]] = {"max": "fmax", "min": "fmin"}
_REMAINDERS: Final[Mapping[str, str]] = {"mod": "remainder", "rem": "fmod"}
_DRAWN: Final[Mapping[str, str]] = {"uniform": "random", "normal": "standard_normal"}


class Vectors(Expressions):
    """Translates expressions of rows and columns, too.

    Attributes:
        rebound: The rows and columns that statements bind anew.
        stored_to: The arrays that statements store to, in part.
        assigned_names: All variables that statements bind, those of loops included.
        passing: Variables that nothing reads after an iteration.
        made: Of those, the rows and columns: their classes, and which of both they are.
        sizes: Of those: others of the same size that the loop is given.
        masks: Of the variables that statements bind, those that are truth values each time.
        fills_wholes: Arrays are stored where others of one row or column would be repeated.
        has_parts: A variable is bound to a part of an array, which may have one element.
        is_real: No operation may be reported as invalid: its value would be complex.

    """

    def __init__(
        self,
        shared: Any,
        scope: Any,
        classes: Mapping[str, VariableClass],
        *,
        inside: bool = False,
    ) -> None:
        super().__init__(shared, scope, classes, inside=inside)
        self.rebound = frozenset[str]()
        self.stored_to = frozenset[str]()
        self.is_real = False
        self.assigned_names = frozenset[str]()
        self.passing = frozenset[str]()
        self.made: dict[str, tuple[Kind, Along]] = {}
        self.sizes: dict[str, str] = {}
        self.masks = frozenset[str]()
        self.has_parts = self.reads_part = self.fills_wholes = False

    def look_at_vectors(self, *parts: Any) -> None:
        """Note which rows and columns are used as a whole, bound anew, or stored to in part."""
        statements = [node for node in below(*parts) if isinstance(node, nodes.Assignment)]
        loops = [node for node in below(*parts) if isinstance(node, nodes.For)]
        targets = [(target, node.value) for node in statements for target in node.targets]
        parts_of = [(each, each.target) for each, _ in targets if isinstance(each, nodes.Index)]
        self.masks = masks_in(*parts)
        self.stored_to = frozenset(
            of.name
            for part, of in parts_of
            if isinstance(of, nodes.Name) and not self.is_chosen(part)
        )
        names = [(each.name, value) for each, value in targets if isinstance(each, nodes.Name)]
        counters = {node.target.name for node in loops if isinstance(node.target, nodes.Name)}
        self.assigned_names = frozenset({name for name, _ in names} | counters)
        in_place = self.stored_to - self.passing - bound_first(*parts)
        copies = [isinstance(v, nodes.Name) and v.name in in_place for _, v in names]
        made = {name for (name, _), is_copy in zip(names, copies, strict=True) if not is_copy}
        made |= {of.name for part, of in parts_of if isinstance(of, nodes.Name)}
        made -= in_place | self.passing
        self.rebound = frozenset(name for name in made if self.along_of(name))
        alone = {id(each) for each, _ in targets}
        alone |= {id(node.target) for node in below(*parts) if isinstance(node, nodes.Index)}
        for node in below(*parts):
            along = self.along_of(node.name) if isinstance(node, nodes.Name) else None
            if isinstance(node, nodes.Name) and along is not None and id(node) not in alone:
                self.subscripts.setdefault(node.name, set()).add(2 if along == "matrix" else 1)
        for name, one in self.with_one_subscript(*parts).items():
            if self.along_of(name) == "matrix" and all(one):
                self.subscripts[name] = self.subscripts[name] - {1} | {2}

    def with_one_subscript(self, *parts: Any) -> Mapping[str, list[bool]]:
        """The variables with one subscript, and whether each time it is ``:`` or truth values."""
        found: dict[str, list[bool]] = {}
        for node in below(*parts):
            match node:
                case nodes.Index(target=nodes.Name(name=name), arguments=(argument,)):
                    is_whole = isinstance(argument, nodes.Colon) or self.is_chosen(node)
                    found.setdefault(name, []).append(is_whole)
        return found

    # -- what is a vector --------------------------------------------------------------------------
    def along_of(self, name: str) -> Along | None:
        """True if a variable is a row, a column or a matrix."""
        if name in self.made:
            return self.made[name][1] if name in (self.known or ()) else None
        found = self.classes.get(name)
        if not isinstance(found, ArrayClass) or found.axes != 2:
            return None
        if found.is_row == found.is_column:
            return None if found.is_row else "matrix"
        return "row" if found.is_row else "column"

    def is_chosen(self, node: nodes.Index) -> bool:
        """True if elements of an array are chosen by truth values."""
        match node.arguments:
            case (nodes.Name(name=name),):
                found = self.classes.get(name)
                known = isinstance(found, ArrayClass) and found.kind == "logical"
                return name in self.masks or (known and self.along_of(name) is not None)
            case (argument,):
                return is_comparison(argument)
        return False

    def class_of_array(self, name: str) -> ArrayClass | None:
        """The class of a variable that is an array, or that the loop has made one."""
        if name in self.made:
            kind, along = self.made[name]
            return ArrayClass(kind, 2, is_row=along == "row", is_column=along == "column")
        found = self.classes.get(name)
        return found if isinstance(found, ArrayClass) else None

    def along(self, node: nodes.Expression) -> Along | None:
        """What array an expression is; None: a number, or what is not known here."""
        match node:
            case nodes.Name(name=name):
                return None if name in self.growing else self.along_of(name)
            case nodes.Parenthesized(expression=inner) | nodes.Unary(operand=inner):
                return self.along(inner)
            case nodes.Postfix(operand=operand):
                along = self.along(operand)
                return _TURNED.get(along, along) if along is not None else None
            case nodes.Binary(left=left, right=right):
                return together(self.along(left), self.along(right))
            case nodes.Index(target=nodes.Name(name=name), arguments=arguments):
                found = self.classes.get(name)
                if isinstance(found, ArrayClass) or name in self.made:
                    return None if name in self.growing else self.along_of_part(name, arguments)
                if found is not None or not isinstance(self.shared.find(name, self.scope), Builtin):
                    return None
                if name in DRAWS:
                    return self.along_of_size(arguments)
                if name in _FILLED:
                    return self.along_of_size(arguments) or ("matrix" if arguments else None)
                if name in _OF_VECTORS:
                    return reduce(together, map(self.along, arguments), None)
        return None

    def along_of_part(self, name: str, arguments: Sequence[nodes.Expression]) -> Along | None:
        several = [isinstance(each, nodes.Colon | nodes.Range) for each in arguments]
        of = self.along_of(name)
        if several == [True] and isinstance(arguments[0], nodes.Colon):
            return "all" if of == "matrix" else None if of is None else "column"
        if several == [True]:
            return None if of == "matrix" else of
        if several == [True, True] and of == "matrix":
            return "matrix"
        if several.count(True) != 1:
            return None
        return ("column", "row")[several.index(True)] if several.index(True) < 2 else None

    def along_of_size(self, arguments: Sequence[nodes.Expression]) -> Along | None:
        """Of ``randn(n, 1)`` and ``randn(1, n)``, with a class perhaps; of ``randn(size(x))``."""
        sizes = [each for each in arguments if not _is_text(each)]
        match sizes:
            case [nodes.Index(target=nodes.Name(name="size"), arguments=(of,))]:
                along = self.along(of)
                return along if along in _TURNED else None
            case [_, last] if literal(last) == 1.0:
                return "column"
            case [first, _] if literal(first) == 1.0:
                return "row"
        return None

    # -- expressions -------------------------------------------------------------------------------
    def value(self, node: nodes.Expression) -> Made:
        if self.along(node) is not None:
            raise NotNative("an array where a number is wanted", node.span)
        return super().value(node)

    def elements(self, node: nodes.Expression) -> Made:
        """An array; a number as :meth:`value` gives it."""
        if self.along(node) is None:
            return self.value(node)
        match node:
            case nodes.Parenthesized():
                return self.elements(node.expression)
            case nodes.Postfix() if self.along(node) in _TURNED:
                return self.elements(node.operand)
            case nodes.Name():
                return Made(self.vector(node.name), self.kind_of(node.name))
            case nodes.Unary():
                return self.unary_of_vector(node)
            case nodes.Binary():
                return self.binary_of_vectors(node)
            case nodes.Index(target=nodes.Name(name=name)):
                if name in self.classes or name in self.made:
                    return Made(self.part(name, node.arguments, node.span), self.kind_of(name))
                return self.of_vectors(name, node)
        raise NotNative("an expression of another kind", node.span)

    def kind_of(self, name: str) -> Kind:
        found = self.classes.get(name)
        return found.kind if isinstance(found, ArrayClass) else self.made[name][0]

    def vector(self, name: str) -> ast.expr:
        """An array as it is now."""
        is_matrix = self.along_of(name) == "matrix"
        what: Literal["data", "line"] = "data" if is_matrix else "line"
        if name in self.rebound:
            self.shared.operand(f"v_{name}", Operand(what, name))
        if self.is_bound_here(name):
            return load(f"v_{name}")
        if is_matrix and self.subscripts.get(name, {2}) != {2}:
            raise NotNative(f"{name} with one subscript and with two")
        return self.shared.operand(
            f"{what[0] if what == 'line' else 'a'}_{name}", Operand(what, name)
        )

    def is_bound_here(self, name: str) -> bool:
        """True if an array is one that the loop makes anew."""
        return name in self.rebound or name in self.made

    def unary_of_vector(self, node: nodes.Unary) -> Made:
        made = self.elements(node.operand)
        if node.operator == "~":
            if made.kind != "logical":
                raise NotNative("~ of numbers", node.span)
            return Made(self.numpy("logical_not", made.node), "logical")
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        return Made(value if node.operator == "+" else ast.UnaryOp(ast.USub(), value), kind)

    def binary_of_vectors(self, node: nodes.Binary) -> Made:
        """An operator of two arrays that go together, or of one and a number."""
        vectors = left_along, right_along = self.along(node.left), self.along(node.right)
        operator, span = node.operator, node.span
        if operator in ("^", ".^"):
            return self.power_of_vector(node)
        sides = self.beside(node.left, node.right, span)
        pairs = list(zip(sides, [along is not None for along in vectors], strict=True))
        if operator in ("&", "|"):
            if any(side.kind != "logical" for side in sides):
                raise NotNative(f"{operator} of numbers", span)
            name = "logical_and" if operator == "&" else "logical_or"
            return Made(self.numpy(name, *(side.node for side in sides)), "logical")
        if operator in COMPARISONS:
            x, y = [self.as_class(side, "double", is_vector=vector) for side, vector in pairs]
            return Made(ast.Compare(x, [COMPARISONS[operator]()], [y]), "logical")
        kind: Kind = "single" if "single" in (sides[0].kind, sides[1].kind) else "double"
        x, y = [self.as_class(side, kind, is_vector=vector) for side, vector in pairs]
        if operator in ("\\", ".\\"):
            (x, y), (left_along, right_along) = (y, x), (right_along, left_along)
        outer = vectors == ("column", "row")
        matrices = {
            "*": None not in vectors and not outer,
            "/": right_along is not None,
            "\\": right_along is not None,
        }
        if matrices.get(operator, False):
            raise NotNative("a product or a quotient of matrices", span)
        if operator in ("/", "./", "\\", ".\\"):
            return Made(ast.BinOp(x, ast.Div(), y), kind)
        if operator in ARITHMETIC:
            return Made(ast.BinOp(x, ARITHMETIC[operator](), y), kind)
        raise NotNative(f"the operator {operator}", span)

    def beside(
        self, one: nodes.Expression, other: nodes.Expression, span: Span
    ) -> tuple[Made, Made]:
        """Two operands of one operation on each element; a row beside a matrix has an axis more.

        A row beside a column, too: both together are a matrix.
        """
        ways = self.along(one), self.along(other)
        if "all" in ways and not {*ways} <= {"all", None}:
            raise NotNative("an array and all elements of a matrix", span)
        made = [self.elements(one), self.elements(other)]
        if together(*ways) == "matrix" and "row" in ways:
            at = ways.index("row")
            placed = ast.Tuple([ast.Slice(), ast.Constant(None)], ast.Load())
            made[at] = replace(made[at], node=ast.Subscript(made[at].node, placed, ast.Load()))
        return made[0], made[1]

    def power_of_vector(self, node: nodes.Binary) -> Made:
        """Powers of the elements by a number: of those below zero they may be complex."""
        if node.operator == "^" or self.along(node.right) is not None:
            raise NotNative("a power of a row or a column", node.span)
        exponent, made, by = literal(node.right), self.elements(node.left), self.value(node.right)
        self.is_real |= exponent is None or exponent != exponent // 1
        kind: Kind = "single" if "single" in (made.kind, by.kind) else "double"
        value = self.as_class(made, kind, is_vector=True)
        known = self.as_class(by, kind, is_vector=False)
        power = known if exponent is None else constant(exponent)
        return Made(ast.BinOp(value, ast.Pow(), power), kind)

    def as_class(self, made: Made, kind: Kind, *, is_vector: bool) -> ast.expr:
        """An operand of an operation that computes doubles, or singles."""
        if not is_vector and kind == "double":
            return made.node if made.kind == "single" else self.as_float(made)
        if not is_vector:
            rounded = self.called(to_single, self.as_float(made)) if made.kind != kind else made
            return rounded.node
        if made.kind == kind:
            return made.node
        dtype = self.shared.thing(f"as_{kind}", _FLOATS[kind])
        return ast.Call(ast.Attribute(made.node, "astype", ast.Load()), [dtype], [])

    def numpy(self, name: str, *operands: ast.expr) -> ast.expr:
        """A call of a function of NumPy's."""
        return ast.Call(self.shared.thing(f"numpy_{name}", getattr(np, name)), [*operands], [])

    # -- calls -------------------------------------------------------------------------------------
    def of_vectors(self, name: str, node: nodes.Index) -> Made:
        """A call of a builtin on what are not all numbers, or one that makes a vector."""
        if name in DRAWS:
            return self.drawn_along(name, node)
        try:
            return _OF_VECTORS[name](self, name, node)
        except ValueError:
            raise NotNative(f"{name} is called with other arguments", node.span) from None

    def of_each(self, name: str, node: nodes.Index) -> Made:
        (argument,) = node.arguments
        made = self.elements(argument)
        kind: Kind = "single" if made.kind == "single" else "double"
        self.is_real |= name in _OF_NONNEGATIVE
        row = _OF_EACH.get(name) or _OF_NONNEGATIVE[name]
        return Made(self.numpy(row, self.as_class(made, kind, is_vector=True)), kind)

    def of_two(self, name: str, node: nodes.Index) -> Made:
        """``max`` and ``min``, which leave NaN out."""
        one, other = node.arguments
        both = self.along(one), self.along(other)
        sides = self.beside(one, other, node.span)
        kind: Kind = "single" if "single" in (sides[0].kind, sides[1].kind) else "double"
        x, y = [
            self.as_class(side, kind, is_vector=along is not None)
            for side, along in zip(sides, both, strict=True)
        ]
        return Made(self.numpy(_OF_TWO[name], x, y), kind)

    def remainder(self, name: str, node: nodes.Index) -> Made:
        """``mod`` and ``rem`` by a whole number that is written in the program."""
        argument, by = node.arguments
        divisor = literal(by)
        if not divisor or divisor != divisor // 1:
            raise NotNative(f"{name} by what may be no whole number", node.span)
        made = self.elements(argument)
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        return Made(self.numpy(_REMAINDERS[name], value, constant(divisor)), kind)

    def converted_vector(self, name: str, node: nodes.Index) -> Made:
        """``double`` and ``single``."""
        (argument,) = node.arguments
        kind: Kind = "single" if name == "single" else "double"
        return Made(self.as_class(self.elements(argument), kind, is_vector=True), kind)

    def tested(self, name: str, node: nodes.Index) -> Made:
        """``isnan``, ``isinf`` and ``isfinite``."""
        (argument,) = node.arguments
        made = self.elements(argument)
        kind: Kind = "single" if made.kind == "single" else "double"
        value = self.as_class(made, kind, is_vector=True)
        return Made(self.numpy(name, value), "logical")

    def drawn_along(self, name: str, node: nodes.Index) -> Made:
        """``rand`` and ``randn`` of a row or a column: the generator is an operand."""
        if self.inside:
            raise NotNative("random numbers in a function", node.span)
        texts = [each for each in node.arguments if _is_text(each)]
        sizes = [each for each in node.arguments if not _is_text(each)]
        classes = [each.text for each in texts if isinstance(each, _TEXTS)]
        if len(classes) > 1 or any(each not in _FLOATS for each in classes):
            raise NotNative(f"{name} is called with other arguments", node.span)
        kind: Kind = "single" if classes == ["single"] else "double"
        if len(sizes) == 1:
            (of,) = sizes[0].arguments if isinstance(sizes[0], nodes.Index) else ()
            count = self.length(of)
        else:
            count = self.count(sizes[0] if literal(sizes[1]) == 1.0 else sizes[1])
        generator = self.shared.operand("generator", Operand("generator"))
        method = ast.Attribute(generator, _DRAWN[DRAWS[name]], ast.Load())
        dtype = self.shared.thing(f"as_{kind}", _FLOATS[kind])
        return Made(ast.Call(method, [count, dtype], []), kind)

    def length(self, node: nodes.Expression) -> ast.expr:
        """Number of elements a row or a column has."""
        return ast.Call(self.shared.basic("len"), [self.elements(node).node], [])

    def count(self, node: nodes.Expression) -> ast.expr:
        """A number of elements."""
        match node:
            case nodes.Name(name=name) if name in self.kinds and not self.may_change(name):
                return self.shared.operand(f"k_{name}", Operand("count", name))
            case nodes.Index(target=nodes.Name(name="numel" | "length"), arguments=(of,)):
                if self.along(of) is not None:
                    return self.length(of)
        number = literal(node)
        if number is None or number != number // 1 or number < 2:
            raise NotNative("as many random numbers as no array has", node.span)
        return constant(int(number))

    def may_change(self, name: str) -> bool:
        """True if the loop binds a variable, or did before it was looked at."""
        return name in self.assigned_names or name in self.around or name in self.counted

    def filled(self, name: str, node: nodes.Index) -> Made:
        """``zeros``, ``ones`` and ``eye``, of numbers that are the same in all turns: operands."""
        along, arguments = self.along(node), node.arguments
        if self.inside or len(arguments) > 2:
            raise NotNative(f"{name} is called with other arguments", node.span)
        sizes = [self.size_before(each) for each in arguments]
        if along != "matrix":
            sizes = [size for size in sizes if size != 1]
        if not sizes or 1 in sizes or (name == "eye" and along != "matrix"):
            raise NotNative(f"{name} is called with other arguments", node.span)
        whole = sizes if along != "matrix" else (sizes * 2)[:2]
        part = Filled(name, tuple(whole))
        text = "_".join(map(str, (name, *whole)))
        return Made(self.shared.operand(f"a_0{text}", Operand("filled", part=part)), "double")

    def size_before(self, node: nodes.Expression) -> int | str:
        """A size that is written in the program, or a variable that holds it all the time."""
        number = literal(node)
        if number is not None and number == number // 1 and number >= 1:
            return int(number)
        is_held = isinstance(node, nodes.Name) and node.name in self.kinds
        if not (is_held and isinstance(node, nodes.Name)) or self.may_change(node.name):
            raise NotNative("a size that is computed in the loop", node.span)
        return node.name

    # -- parts -------------------------------------------------------------------------------------
    def part(
        self,
        name: str,
        arguments: Sequence[nodes.Expression],
        span: Span,
        context: ast.expr_context | None = None,
    ) -> ast.expr:
        """``x(:)``, ``x(a:b)``, ``x(:, k)``, ``x(a:b, k)`` and the like."""
        context = context or ast.Load()
        found, count = self.classes.get(name), len(arguments)
        places: list[ast.expr] = []
        for at, argument in enumerate(arguments):
            self.ends.append((name, at, count))
            places.append(self.places(name, at, count, argument))
            self.ends.pop()
        is_short = count > 2 or any(isinstance(each, nodes.Range) for each in arguments)
        self.reads_part |= is_short and not isinstance(context, ast.Store)
        along = self.along_of(name)
        if count == 1:
            if along is None:
                raise NotNative(f"{name} with 1 subscript", span)
            return ast.Subscript(self.vector(name), places[0], context)
        axes = found.axes if isinstance(found, ArrayClass) else 2
        is_whole = self.is_bound_here(name) or self.subscripts.get(name, set()) == {count}
        is_line = self.is_bound_here(name) and along != "matrix"
        if is_line or count != axes or not is_whole:
            raise NotNative(f"{name} with {count} subscripts", span)
        if self.is_bound_here(name):
            array = self.vector(name)
        else:
            array = self.shared.operand(f"a_{name}", Operand("data", name))
        return ast.Subscript(array, ast.Tuple(places[::-1], ast.Load()), context)

    def places(self, name: str, at: int, count: int, node: nodes.Expression) -> ast.expr:
        """A subscript: a place counted from 0, or a slice of them."""
        if isinstance(node, nodes.Colon):
            return ast.Slice()
        if not isinstance(node, nodes.Range):
            return self.place(node)
        natural, demand = self.shared.basic("natural"), self.shared.basic("demand")
        by = None if node.step is None else self.step_upwards(node.step)
        begin = ast.Call(natural, [plus(self.whole(node.start), -1)], [])
        if isinstance(node.stop, nodes.End):
            return ast.Slice(begin, None, by)
        stop = ast.Call(natural, [self.whole(node.stop)], [])
        extent = self.extent(name, at, count, node.span).whole
        assert extent is not None, "it is an integer"
        inside = ast.Compare(stop, [ast.LtE()], [extent])
        return ast.Slice(begin, ast.Call(demand, [inside, stop], []), by)

    def step_upwards(self, node: nodes.Expression) -> ast.expr:
        """The step of a part, of whole numbers above 0; the loop leaves where it is none."""
        whole = self.whole(node)
        match whole:
            case ast.Constant(value=int(value)):
                if value < 1:
                    raise NotNative("a part backwards", node.span)
                return whole
        return plus(ast.Call(self.shared.basic("natural"), [plus(whole, -1)], []), 1)

    def extent(self, name: str, at: int, count: int, span: Span) -> Made:
        if self.is_bound_here(name):
            is_matrix = self.along_of(name) == "matrix"
            if count != 1 + is_matrix:
                raise NotNative(f"{name} with {count} subscripts", span)
            shape = ast.Attribute(self.vector(name), "shape", ast.Load())
            part = ast.Subscript(shape, constant(count - 1 - at), ast.Load())
            return Made(self.float(part), "double", part)
        return super().extent(name, at, count, span)

    def element(
        self, name: str, found: ArrayClass, arguments: Sequence[nodes.Expression], span: Span
    ) -> ast.expr:
        if not self.is_bound_here(name):
            return super().element(name, found, arguments, span)
        count = len(arguments)
        if count != 1 + (self.along_of(name) == "matrix"):
            raise NotNative(f"{name} with {count} subscripts", span)
        places: list[ast.expr] = []
        for at, argument in enumerate(arguments):
            self.ends.append((name, at, count))
            places.append(self.place(argument))
            self.ends.pop()
        index = places[0] if count == 1 else ast.Tuple(places[::-1], ast.Load())
        return ast.Subscript(self.vector(name), index, ast.Load())

    # -- statements --------------------------------------------------------------------------------
    def bind_vector(self, target: nodes.Name, value: nodes.Expression) -> list[ast.stmt]:
        """``name = value``, an array."""
        name, along = target.name, self.along(value)
        may = name in self.rebound or (name in self.passing and name not in self.kinds)
        if along is None or along == "all" or self.inside or not may:
            raise NotNative(f"{name} becomes another array", target.span)
        self.reads_part = False
        made = self.elements(value)
        self.has_parts |= self.reads_part
        if name in self.rebound:
            self.bound.add(name)
            before = self.kind_of(name), self.along_of(name)
        else:
            before = self.made.setdefault(name, (made.kind, along))
            leaves = [leaf.name for leaf in leaves_of(value) if isinstance(leaf, nodes.Name)]
            like = [self.given_like(of) for of in leaves if self.along_of(of) == along]
            self.sizes[name] = like[0] if like else ""
        if before != (made.kind, along):
            raise NotNative(f"{name} is of several classes", target.span)
        assert self.known is not None, "what is never run is not translated"
        self.known.add(name)
        self.vector(name)
        node = made.node
        if self.is_view(node) or (name in self.stored_to and isinstance(node, ast.Name)):
            node = ast.Call(ast.Attribute(node, "copy", ast.Load()), [], [])
        return [ast.Assign([ast.Name(f"v_{name}", ast.Store())], node)]

    def check_fit(
        self,
        name: str,
        arguments: Sequence[nodes.Expression],
        value: nodes.Expression,
        span: Span,
    ) -> None:
        """Refuse what NumPy might repeat where it is stored, and MATLAB does not.

        Raises:
            NotNative: the value is another array than the part, or may be.

        """
        into, along = self.along_of_part(name, arguments), self.along(value)
        if along is None or (into in _TURNED and along in _TURNED):
            return
        if into != along:
            raise NotNative("a part that becomes another array", span)
        self.fills_wholes |= into == "matrix"
        wanted = lengths_of(arguments)
        for leaf in leaves_of(value):
            match leaf:
                case nodes.Index(target=nodes.Name(name=of), arguments=parts) if (
                    self.along(leaf) == "matrix" and self.along_of(of) == "matrix"
                ):
                    pairs = list(zip(lengths_of(parts), wanted, strict=True))
                    if not all(may_be_stored(a, b, alike=True) for a, b in pairs):
                        raise NotNative("a part that may have one element", leaf.span)
                    pair = self.given_like(name), self.given_like(of)
                    if of != name and "" in pair:
                        raise NotNative("a part of what is no array before", leaf.span)
                    self.alike |= {pair} if of != name and pair[0] != pair[1] else set()
                case nodes.Index() if self.along(leaf) == "matrix":
                    for argument in leaf.arguments:
                        self.check_fit(name, arguments, argument, span)

    def overwrite(self, target: nodes.Name, value: nodes.Expression) -> list[ast.stmt]:
        """``name = value`` where the loop stores to parts of it, too: its elements are replaced."""
        name, along = target.name, self.along_of(target.name)
        leaves = [each.name for each in leaves_of(value) if isinstance(each, nodes.Name)]
        like = [self.given_like(of) for of in leaves if self.along_of(of) == along]
        if self.inside or self.along(value) != along or not like or not like[0]:
            raise NotNative(f"{name} becomes another array", target.span)
        made = self.elements(value)
        if made.kind != self.kind_of(name):
            raise NotNative(f"{name} is of several classes", target.span)
        self.alike |= {(name, like[0])} if like[0] != name else set()
        self.written.add(name)
        self.fills_wholes = True
        return [ast.Assign([ast.Subscript(self.vector(name), ast.Slice(), ast.Store())], made.node)]

    def given_like(self, name: str) -> str:
        """An array of the same size that the loop is given; empty: nobody knows one."""
        if name in self.made:
            return self.sizes.get(name, "")
        self.vector(name)  # so that it is given
        return name

    def is_view(self, node: ast.expr) -> bool:
        """True if an array is another one's memory, which the loop may store to or not give."""
        if isinstance(node, ast.Name):
            return node.id[:2] in ("l_", "a_") or node.id[2:] in self.stored_to
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id == "numpy_roll"
        return isinstance(node, ast.Subscript)

    def store_part(self, target: nodes.Index, value: nodes.Expression) -> list[ast.stmt]:
        """``name(:, k) = value``."""
        assert isinstance(target.target, nodes.Name), "the caller looked"
        name = target.target.name
        self.check_fit(name, target.arguments, value, target.span)
        made = self.elements(value)
        kind = self.kind_of(name)
        if self.inside or (made.kind == "logical") != (kind == "logical"):
            raise NotNative(f"{name} takes elements of another class", target.span)
        node = made.node
        if self.along(value) is None and made.kind != "logical":
            exact = made.node if made.kind == "single" else self.as_float(made)
            node = self.called(to_single, exact).node if kind == "single" else exact
        self.written |= set() if self.is_bound_here(name) else {name}
        return [ast.Assign([self.part(name, target.arguments, target.span, ast.Store())], node)]


def together(one: Along | None, other: Along | None) -> Along | None:
    """What an operation on each element of both gives, if they go together."""
    both = {one, other}
    return "matrix" if "matrix" in both or both == {"row", "column"} else one or other


def bound_first(*parts: Any) -> frozenset[str]:
    """The variables that each turn of a loop binds anew before it uses them in any other way."""
    found, seen = set[str](), set[str]()
    for loop in parts:
        for statement in loop.body if isinstance(loop, nodes.For | nodes.While) else ():
            match statement:
                case nodes.Assignment(targets=(nodes.Name(name=name),), value=value):
                    seen |= names_in(value)
                    found |= {name} - seen
            seen |= {each.name for each in below(statement) if isinstance(each, nodes.Name)}
    return frozenset(found)


def is_comparison(node: nodes.Expression) -> bool:
    """True if an expression is truth values whatever its operands are."""
    match node:
        case nodes.Parenthesized(expression=inner):
            return is_comparison(inner)
        case nodes.Unary(operator=operator):
            return operator == "~"
        case nodes.Index(target=nodes.Name(name=name)):
            return name in ("isnan", "isinf", "isfinite")
        case nodes.Binary(operator=operator):
            return operator in COMPARISONS or operator in ("&", "|")
    return False


def masks_in(*parts: Any) -> frozenset[str]:
    """The variables that are bound to truth values alone."""
    masks, others = set[str](), set[str]()
    for node in below(*parts):
        match node:
            case nodes.Assignment(targets=(nodes.Name(name=name),), value=value):
                (masks if is_comparison(value) else others).add(name)
            case nodes.Assignment(targets=targets):
                others.update(each.name for each in targets if isinstance(each, nodes.Name))
            case nodes.For(target=nodes.Name(name=name)):
                others.add(name)
    return frozenset(masks - others)


def _is_text(node: nodes.Expression) -> bool:
    return isinstance(node, _TEXTS)


_TURNED: Final[Mapping[Along, Along]] = {"row": "column", "column": "row"}
_TEXTS: Final = (nodes.CharLiteral, nodes.StringLiteral)
_FILLED: Final = ("zeros", "ones", "eye")
"""Builtins that make arrays of sizes."""
_Call: TypeAlias = Callable[[Vectors, str, nodes.Index], Made]
_OF_VECTORS: Final[Mapping[str, _Call]] = {
    **dict.fromkeys((*_OF_EACH, *_OF_NONNEGATIVE), Vectors.of_each),
    **dict.fromkeys(_OF_TWO, Vectors.of_two),
    **dict.fromkeys(_FILLED, Vectors.filled),
    **dict.fromkeys(_REMAINDERS, Vectors.remainder),
    **dict.fromkeys(("double", "single"), Vectors.converted_vector),
    **dict.fromkeys(("isnan", "isinf", "isfinite"), Vectors.tested),
}
