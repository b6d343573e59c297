"""How long parts of arrays are along each axis, as far as the program's text says it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from matlab_frontend import nodes
from matlab_frontend.interpreter.native.expressions import literal
from runmat_jit.core.frozen import frozen


@frozen
class Length:
    """A number of elements: ``count``, counted from the array's own extent if ``from_end``."""

    count: int
    from_end: bool


ONE: Final = Length(1, from_end=False)


def lengths_of(arguments: Sequence[nodes.Expression]) -> list[Length | None]:
    """The lengths along the axes that a part has; None: nobody knows."""
    several = [each for each in arguments if isinstance(each, nodes.Colon | nodes.Range)]
    return [length_of(each) for each in several]


def length_of(node: nodes.Expression) -> Length | None:
    """Number of elements ``:``, ``a:b``, ``a:end`` or ``a:end-b`` are."""
    if isinstance(node, nodes.Colon):
        return Length(0, from_end=True)
    if not isinstance(node, nodes.Range) or node.step is not None:
        return None
    first, last = whole(node.start), whole(node.stop)
    if first is not None and last is not None:
        return Length(last - first + 1, from_end=False)
    match node.stop:
        case nodes.End():
            back: int | None = 0
        case nodes.Binary(operator="-", left=nodes.End(), right=right):
            back = whole(right)
        case _:
            back = None
    return None if first is None or back is None else Length(1 - first - back, from_end=True)


def whole(node: nodes.Expression) -> int | None:
    """A whole number that is written in the program."""
    number = literal(node)
    return int(number) if number is not None and number == number // 1 else None


def may_be_stored(length: Length | None, into: Length | None, *, alike: bool) -> bool:
    """True if a part fits where it is stored to, or is refused by NumPy as by MATLAB.

    A part of one element would be repeated by NumPy alone. ``alike``: both arrays are of one size.
    """
    if length is not None and not length.from_end and length.count > 1:
        return True
    return length is not None and length == into and (alike or not length.from_end)


def leaves_of(node: nodes.Expression) -> Iterator[nodes.Expression]:
    """The variables and parts of arrays of which an expression is made, element by element."""
    match node:
        case nodes.Binary(left=left, right=right):
            yield from leaves_of(left)
            yield from leaves_of(right)
        case nodes.Unary(operand=inner) | nodes.Parenthesized(expression=inner):
            yield from leaves_of(inner)
        case nodes.Postfix(operand=inner):
            yield from leaves_of(inner)
        case _:
            yield node
