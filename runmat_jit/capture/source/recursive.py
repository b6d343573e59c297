"""A function that calls itself as plain Python does: from frame to frame, with nothing between.

A decorated function is an object with a call of its own: each level of a recursion through it takes
some of the C stack, which ends before Python's limit where a program has raised that. So calls
that are plain Python from now on go to a form of the function whose calls of itself are its own:
``f(x)`` becomes ``own(f)(x)``, where ``own`` gives the form for the decorated function, and
anything else as it is.
"""

from __future__ import annotations

import ast
import copy
import types
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from runmat_jit.capture.source.hook_calls import hook
from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.rewrite import Refused, bind, compiled_form
from runmat_jit.core.frozen import frozen_object


@frozen_object
class OwnCalls:
    """What the form calls: a constant of its code."""

    own: Callable[[Any], Any]


def recursive_form(
    fn: types.FunctionType, carried: str | None, is_it: Callable[[Any], bool]
) -> types.FunctionType:
    """The form of a function, or itself where there is none; ``is_it`` knows the decorated one."""
    located = locate(fn, SourceCache(), carried)
    if located is None or not isinstance(located.node, ast.FunctionDef):
        return fn
    node = _CallsOfItself(fn.__name__).definition(located.node)
    found = compiled_form(fn, replace(located, node=node))
    if isinstance(found, Refused):
        return fn

    def own(called: Any) -> Any:
        form = link() if link is not None else None
        if form is None:  # dropped meanwhile, with the decorated function
            return called
        if type(called) is types.MethodType and is_it(called.__func__):
            return types.MethodType(form, called.__self__)
        return form if is_it(called) else called

    link: weakref.ref[types.FunctionType] | None = None  # Python collects no cycle through code
    form = bind(found, fn, OwnCalls(own))
    link = weakref.ref(form)
    return form


class _CallsOfItself(ast.NodeTransformer):
    """Puts ``own`` around what a function calls by its own name, but in functions within it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def definition(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """The definition with such calls; the one that is given stays as it is."""
        made = copy.deepcopy(node)
        made.body = [self.visit(statement) for statement in made.body]
        return made

    def _inner(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _inner  # noqa: N815  (as the walk calls them)
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _inner  # noqa: N815  (as the walk calls them)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        named = isinstance(function, ast.Name) and function.id == self.name
        if named or (isinstance(function, ast.Attribute) and function.attr == self.name):
            node.func = hook("own", [function], function)
        return node
