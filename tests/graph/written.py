"""Graphs from nested expressions, such as ``add(sin($0), 1.0)``: what tests write by hand."""

import ast
import re

from runmat_jit.graph.parse import parse

_LITERALS = ("float32", "float64", "int32", "int64", "bool")


def written(inputs, *expressions):
    """The graph whose outputs are these expressions over inputs of these types.

    A type without strides, such as ``float32[4, 5]``, is of an array in C order.
    """
    lines = [f"${i} : {_input(text)}" for i, text in enumerate(inputs)]
    names = []
    for expression in expressions:
        tree = ast.parse(re.sub(r"\$(\d)", r"x\1", expression), mode="eval").body
        names.append(_flattened(tree, lines))
    returns = [f"return {name} -> fresh ()" for name in names]
    ranks = [o.node.type.ndim for o in parse("\n".join([*lines, *returns])).outputs]
    returns = [
        f"return {name} -> fresh {tuple(range(rank))}"
        for name, rank in zip(names, ranks, strict=True)
    ]
    return parse("\n".join([*lines, *returns]))


def _input(text):
    if "strides" in text or "by value" in text:
        return text
    steps, step = [], 1
    for extent in reversed(re.findall(r"\d+", text.partition("[")[2])):
        steps.insert(0, step)
        step *= int(extent)
    return f"{text} strides {tuple(steps)}"


def _flattened(tree, lines):
    """The name of a value; calls below it get lines of their own."""
    if not isinstance(tree, ast.Call) or tree.func.id in _LITERALS:
        return re.sub(r"\bx(\d)\b", r"$\1", ast.unparse(tree))
    args = [_flattened(arg, lines) for arg in tree.args]
    params = [f"{keyword.arg}={ast.unparse(keyword.value)}" for keyword in tree.keywords]
    name = f"%{len(lines)}"
    lines.append(f"{name} = {tree.func.id}({', '.join(args + params)})")
    return name
