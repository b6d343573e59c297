"""Laws of arithmetic that hold for every value: signed zeros, infinities and subnormals too."""

from __future__ import annotations

import math

import numpy as np

from runmat_jit.graph.apply import apply
from runmat_jit.graph.constant import constant, constant_array, is_constant
from runmat_jit.graph.node import Node
from runmat_jit.passes.rewrite import rule


@rule("add", "multiply", "equal", "not_equal", law="a constant operand stands on the right")
def constant_to_the_right(node: Node) -> Node | None:
    left, right = node.args
    if not is_constant(left) or is_constant(right):
        return None
    return apply(node.op.name, right, left)


@rule("greater", "greater_equal", law="x > y is y < x, NaNs included")
def compare_by_less(node: Node) -> Node | None:
    x, y = node.args
    return apply({"greater": "less", "greater_equal": "less_equal"}[node.op.name], y, x)


@rule("multiply", law="x * 1 == x")
def drop_unit_factor(node: Node) -> Node | None:
    x, factor = node.args
    return x if _is(factor, 1) and x.type == node.type else None


@rule("exp", law="e**(0 * x - 0) == 0 * x + 1, NaN where x is no number or infinite")
def exponential_of_zeros(node: Node) -> Node | None:
    """The exponential of a number times the imaginary unit begins with it."""
    (x,) = node.args
    if x.op.name != "fma" or not (_is(x.args[0], 0) and _is(x.args[2], 0)):
        return None
    return apply("fma", *x.args[:2], constant(1.0, node.type.dtype))


@rule("divide", law="x / 1 == x")
def drop_unit_divisor(node: Node) -> Node | None:
    x, divisor = node.args
    return x if _is(divisor, 1) and x.type == node.type else None


@rule("divide", law="x / 2**k == x * 2**-k, exact while 2**-k is a normal number")
def divide_by_power_of_two(node: Node) -> Node | None:
    x, divisor = node.args
    dtype = node.type.dtype
    if dtype.kind != "f" or not is_constant(divisor):
        return None
    value = float(constant_array(divisor))
    if not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5:
        return None
    limits = np.finfo(dtype)
    if not float(limits.tiny) <= abs(1.0 / value) <= float(limits.max):
        return None
    return apply("multiply", x, constant(1.0 / value, dtype))


@rule("add", "subtract", law="x + -0.0 == x and x - 0.0 == x; x + 0.0 is not x where x is -0.0")
def drop_neutral_term(node: Node) -> Node | None:
    x, term = node.args
    if not _is(term, 0) or x.type != node.type:
        return None
    if node.type.dtype.kind == "f":
        negative = bool(np.signbit(constant_array(term)))
        return x if negative == (node.op.name == "add") else None
    return x


@rule("negative", law="-(-x) == x")
def cancel_double_negation(node: Node) -> Node | None:
    (inner,) = node.args
    return inner.args[0] if inner.op.name == "negative" else None


@rule("add", law="x + -y == x - y")
def add_of_negative(node: Node) -> Node | None:
    x, y = node.args
    if y.op.name == "negative":
        return apply("subtract", x, y.args[0])
    return apply("subtract", y, x.args[0]) if x.op.name == "negative" else None


@rule("subtract", law="x - -y == x + y")
def subtract_of_negative(node: Node) -> Node | None:
    x, y = node.args
    return apply("add", x, y.args[0]) if y.op.name == "negative" else None


@rule("absolute", "square", law="|-x| == |x| and (-x)**2 == x**2")
def drop_inner_sign(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name not in ("negative", "absolute"):
        return None
    return apply(node.op.name, inner.args[0])


@rule("positive", "copy", "contiguous_copy", law="a copy has the values of the original")
def drop_copy(node: Node) -> Node | None:
    return node.args[0]


@rule("power", "pow", law="powers that NumPy computes without pow: 1, 2, 1/2 and -1")
def power_by_known_exponent(node: Node) -> Node | None:
    x, exponent = node.args[0], node.params["exponent"]
    if x.type != node.type or not isinstance(exponent, (int, float)):
        return None
    if exponent == 1:
        return x
    if exponent == 2:
        return apply("square", x)
    if node.type.dtype.kind != "f" or exponent not in (0.5, -1):
        return None
    return apply("sqrt" if exponent == 0.5 else "reciprocal", x)


@rule("logical_not", law="not not x == x for bools")
def cancel_double_not(node: Node) -> Node | None:
    (inner,) = node.args
    if inner.op.name != "logical_not" or inner.args[0].type != node.type:
        return None
    return inner.args[0]


@rule("where", law="a choice between equals is no choice", drops=True)
def drop_equal_arms(node: Node) -> Node | None:
    _, x, y = node.args
    return x if x is y and x.type == node.type else None


@rule("where", law="a constant condition chooses once", drops=True)
def choose_by_constant(node: Node) -> Node | None:
    condition, x, y = node.args
    if not is_constant(condition):
        return None
    chosen = x if constant_array(condition) else y
    return chosen if chosen.type == node.type else None


@rule("where", law="where(not c, x, y) == where(c, y, x)")
def choose_by_opposite(node: Node) -> Node | None:
    condition, x, y = node.args
    if condition.op.name != "logical_not" or condition.args[0].type.dtype != np.dtype(bool):
        return None
    return apply("where", condition.args[0], y, x)


def _is(node: Node, value: int) -> bool:
    """Is the node a constant equal to ``value``? Both zeros equal 0."""
    return is_constant(node) and bool(constant_array(node) == value)


RULES = (
    constant_to_the_right,
    exponential_of_zeros,
    compare_by_less,
    drop_unit_factor,
    drop_unit_divisor,
    divide_by_power_of_two,
    drop_neutral_term,
    cancel_double_negation,
    add_of_negative,
    subtract_of_negative,
    drop_inner_sign,
    drop_copy,
    power_by_known_exponent,
    cancel_double_not,
    drop_equal_arms,
    choose_by_constant,
    choose_by_opposite,
)
