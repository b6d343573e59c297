"""Functions that make the call of one step: of the values in its slots, from the user's line.

A step builds its arguments from templates at each call. A function made for it has them in its
code, ``lambda v0, v1, fn, c0: fn(v0, c0, axis=v1)``, whose frame is that of the user's line.
"""

from __future__ import annotations

import functools
import keyword
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from runmat_jit.capture.replay.steps import CallStep, SingleStep
from runmat_jit.capture.tape.call_forms import FORMS, AttributeCall, MethodCall, UfuncMethod
from runmat_jit.capture.tape.entries import Nest, Ref
from runmat_jit.capture.tape.lines import Line


def direct_call(
    step: CallStep | SingleStep, places: Sequence[int], known: Mapping[int, Any]
) -> Callable[..., Any] | None:
    """A function that makes the call of a step; None where it would have to be more than a call.

    ``places`` are the slots whose values the function takes, in order; ``known``: the values of
    the others.
    """
    fn, args = step.fn, step.args
    kwargs: Mapping[str, Any] = step.kwargs if isinstance(step, CallStep) else {}
    line = step.line
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in kwargs):
        return None
    written = _Writer(places, known)
    if type(fn) is MethodCall and args:
        text, rest = f"{written.text(args[0])}.{fn.name}", args[1:]
    elif type(fn) is AttributeCall and len(args) == 1:
        return written.function(f"{written.text(args[0])}.{fn.name}", line)
    elif type(fn) is UfuncMethod:
        text, rest = f"{written.constant(fn.ufunc)}.{fn.name}", args
    elif type(fn) in FORMS:
        return None
    else:
        text, rest = written.constant(fn), args
    given = [*map(written.text, rest)]
    given += [f"{name}={written.text(value)}" for name, value in kwargs.items()]
    return written.function(f"{text}({', '.join(given)})", line)


class _Writer:
    """Writes an expression of values and constants."""

    def __init__(self, places: Sequence[int], known: Mapping[int, Any]) -> None:
        self.names = {slot: f"v{number}" for number, slot in enumerate(places)}
        self.known = known
        self.constants: list[Any] = []

    def constant(self, value: Any) -> str:
        self.constants.append(value)
        return f"c{len(self.constants) - 1}"

    def text(self, template: Any) -> str:
        """A template as an expression."""
        if type(template) is Ref:
            name = self.names.get(template.slot)
            return self.constant(self.known[template.slot]) if name is None else name
        if type(template) is Nest:
            items = ", ".join(map(self.text, template.items))
            return f"{self.constant(template.build)}([{items}])"
        return self.constant(template)

    def function(self, expression: str, line: Line | None) -> Callable[..., Any]:
        names = [*self.names.values(), *(f"c{n}" for n in range(len(self.constants)))]
        code, namespace = _compiled(f"lambda {', '.join(names)}: {expression}"), {}
        if line is not None:
            source = line.source
            code = code.replace(
                co_filename=source.filename,
                co_firstlineno=source.line,
                co_name=source.function,
                co_qualname=source.function,
            )
            namespace = line.namespace
        return types.FunctionType(code, namespace, None, tuple(self.constants))


@functools.lru_cache(maxsize=1024)
def _compiled(text: str) -> types.CodeType:
    code = compile(text, "<a call>", "eval").co_consts
    (found,) = [const for const in code if isinstance(const, types.CodeType)]
    return found
