"""Findings of the analysis of loops, printed: ``f.source(x, backend="loops")``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runmat_jit.loops.emit import ComplexResult, Emitted, FirstRows, Result, Same
from runmat_jit.loops.forms import ArrayForm, ListForm, NumberForm
from runmat_jit.loops.layouts import LastItem
from runmat_jit.loops.memory import Pool
from runmat_jit.loops.program import LoopCall


def describe(call: LoopCall) -> str:
    """Return one paragraph for each combination of operands that a loop was analyzed for."""
    found = [
        "\n".join(_lines(call, dict(zip(call.operands, forms, strict=True)), each))
        for forms, each in list(call.known.items())
    ]
    return "\n".join(found) or f"{call.__name__}: {call.report()}"


def _lines(call: LoopCall, forms: dict[Any, Any], found: Any) -> Iterator[str]:
    yield f"{call.__name__}:"
    yield from (f"  reads {chain}: {_form(form)}" for chain, form in forms.items())
    if not isinstance(found, Emitted):
        at = "" if found.line is None else f" (line {found.line})"
        yield f"  refused: {found.why}{at}"
        return
    for line, names in found.nest:
        yield f"  line {line} carries {', '.join(names) or 'nothing'}"
    chains = list(forms)
    written = ", ".join(str(chains[operand]) for operand in sorted(found.written))
    yield f"  stores to {written or 'nothing'}"
    yield from (f"  makes {count} {_array(pool)}" for pool, count in found.pools.items())
    for lanes in found.lanes:
        axes = [f"axis {axis} of {chains[operand]}" for operand, axis in lanes.axes.items()]
        yield f"  independent along {', '.join(axes)}"
    yield from (f"  leaves {name}: {_result(what, chains)}" for name, what in found.results)


def _form(form: Any) -> str:
    if isinstance(form, ArrayForm):
        return f"{form.dtype}[{', '.join([':'] * form.ndim)}]"
    if isinstance(form, NumberForm):
        return str(form.kind)
    return "list" if isinstance(form, ListForm) else type(form).__name__


def _array(pool: Pool) -> str:
    return f"arrays of {pool.dtype}, {len(pool.dims)} axes"


def _result(what: Result, chains: list[Any]) -> str:
    if isinstance(what, Same):
        return f"the array {chains[what.operand]}"
    if isinstance(what, Pool):
        return _array(what)
    if isinstance(what, FirstRows):
        return f"the first rows of {_array(what.pool)}"
    if isinstance(what, ComplexResult):
        return str(what.kind)
    return "an item of a list" if isinstance(what, LastItem) else " or ".join(map(str, what))
