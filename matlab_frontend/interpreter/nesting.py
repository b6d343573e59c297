"""Nested functions: which variables they share with the functions that hold them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from matlab_frontend import nodes
from matlab_frontend.interpreter.frame import Frame, SharedVariables


def variables_in(parts: Any) -> set[str]:
    """Names that stand for variables in statements; parameters of anonymous functions do not."""
    found: set[str] = set()
    left: list[Any] = [parts]
    while left:
        node = left.pop()
        if isinstance(node, tuple):
            left += node
        elif isinstance(node, nodes.Name):
            found.add(node.name)
        elif isinstance(node, nodes.AnonymousFunction):
            found |= variables_in(node.body) - set(node.parameters)
        elif isinstance(node, nodes.Node):
            if isinstance(node, (nodes.Global, nodes.Persistent)):
                found.update(node.names)
            if isinstance(node, nodes.Try) and node.error is not None:
                found.add(node.error)
            left += node.parts()
    return found


def own_variables(function: nodes.Function) -> set[str]:
    """Variables of a function's own statements, inputs and outputs."""
    return variables_in(function.body) | {*function.inputs, *function.outputs}


def _used(function: nodes.Function) -> set[str]:
    """Variables that a nested function, or one nested in it, takes from outside if it can."""
    inner = set().union(*map(_used, function.nested)) if function.nested else set()
    return (variables_in(function.body) | inner) - {*function.inputs, *function.outputs}


def enter(function: nodes.Function, frame: Frame, outer: Frame | None) -> None:
    """Give a call of a nested function, or of one that holds some, the variables it shares."""
    variables = frame.variables = SharedVariables(frame.variables)
    if outer is not None:
        assert isinstance(outer.variables, SharedVariables), "it holds nested functions"
        reachable = outer.holds | outer.variables.places.keys()
        for name in _used(function) & reachable:
            variables.reach(name, outer.variables)
    frame.holds = frozenset(own_variables(function))
    if function.nested:
        scope = frame.scope
        frame.scope = replace(
            scope,
            functions={**scope.functions, **{inner.name: inner for inner in function.nested}},
            enclosing={**scope.enclosing, **{inner.name: frame for inner in function.nested}},
        )
