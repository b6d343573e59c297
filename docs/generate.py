"""Write the reference pages from the declarations in the code: `python docs/generate.py`.

The pages are committed, and a test compares them with what this module would write.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from matlab_frontend.builtins.names import CATEGORIES
from matlab_frontend.builtins.not_supported import NOT_SUPPORTED
from matlab_frontend.builtins.registry import Builtin, declared_in
from runmat_jit.capture.callables import EFFECT, FUNCTIONS, LIBRARIES, METHODS, Callee, Names
from runmat_jit.core.config import OPTIONS, Config
from runmat_jit.core.reasons import CAUSES, Group
from runmat_jit.ops.library import LibraryUfunc
from runmat_jit.ops.spec import Kind, Op
from runmat_jit.ops.table import ROWS

DOCS = Path(__file__).parent
ACCURACY = DOCS / "reference" / "accuracy.json"
"""Greatest errors found, written by ``tests/accuracy``."""
NOTICE = "<!-- Written by docs/generate.py from the code. Do not edit. -->\n\n"


def configuration() -> str:
    """The page of options and environment variables."""
    defaults = Config()
    rows = (
        (f"`{option.name}`", f"`{option.variable}`", _value(defaults, option.name), option.doc)
        for option in OPTIONS
    )
    return (
        "# Configuration\n\n"
        "Each option is a keyword of `runmat.config(...)` and an environment variable, which is "
        "read when the package is first used. `python -m runmat_jit info` shows the values in "
        "force and where each comes from.\n\n"
        + _table(("option", "environment variable", "default", "meaning"), rows)
        + KEPT_BETWEEN_PROCESSES
    )


KEPT_BETWEEN_PROCESSES = """
## What is kept between processes

The directory `cache_dir`, by default `runmat_jit` in the user's own directory of caches, holds
compiled kernels, the programs made of them, and what was found of the processor and of adapters. A
process that finds all it needs there never loads the compiler. Processes may share it, also at the
same time, and it may be read-only, as in a container with a warmed cache. A file is used only if

- it and its directory belong to this user or to root, and nobody else can write to them (neither a
  group nor all); nobody else may be able to rename a directory above it either: `/tmp`, with its
  sticky bit, may stand there. This holds for root as for any user;
- it is a regular file, no symbolic link, of a sensible size;
- its digest is that of its contents together with the source of the kernel or program, the machine
  that it is for, and the versions of the compiler: a damaged entry or another's is not used.

Whatever is not is compiled anew, and the first such case is one line in the log.
"""


def _value(defaults: Config, name: str) -> str:
    value = getattr(defaults, name)
    return "not set" if value in ("", frozenset()) else f"`{value}`"


SECTIONS: dict[Kind, str] = {
    "elementwise": "Element by element",
    "reduce": "Reductions",
    "create": "New arrays",
    "move": "Moving elements",
    "gather": "Elements at positions",
}


def operations() -> str:
    """The page of operations, from the table's rows."""
    head = ("operation", "meaning", "calls", "MATLAB", "accuracy", "on GPUs", "warnings")
    sections = (
        f"## {title}\n\n" + _table(head, (_operation(r) for r in ROWS.values() if r.kind == kind))
        for kind, title in SECTIONS.items()
    )
    return (
        "# Operations\n\n"
        "What is compiled; every other call stays with NumPy. Accuracy: *NumPy's bits*, or the\n"
        "greatest error of our own kernel in units in the last place (ULP), or, for sums, the\n"
        "factor c of the error bound c u sum(abs(terms)), where u is the rounding unit, for each\n"
        "level of the reduction. On GPUs: *the CPU's bits*, or the greatest error where\n"
        "`reproducible` is not set; numbers below the normal range may count as zero there, and\n"
        "reductions keep the bound of the CPU. An operation without calls is what compiled graphs\n"
        "are made of. [Accuracy](accuracy.md) lists the greatest errors that were found.\n"
        "\n" + "\n".join((*sections, _differences()))
    )


def _differences() -> str:
    rows = [row for row in ROWS.values() if row.differs]
    return (
        "## Where NumPy's bits are not kept\n\n"
        "*NumPy's bits* includes the sign of zeros, and the sign and payload of NaN, silent and\n"
        "signaling, as NumPy has them on x86-64 (the machine decides them elsewhere, in NumPy as\n"
        "here), but for the operands below; for sums, differences, products and quotients of two\n"
        "NaN in one kernel with other operations, where either may be passed on; and for GPUs,\n"
        "where any NaN stands for any other.\n\n"
        + _table(("operation", "operands"), ((f"`{row.name}`", row.differs) for row in rows))
    )


def accuracy() -> str:
    """The page of the greatest errors found."""
    record = json.loads(ACCURACY.read_text(encoding="utf-8"))
    found = (
        (name, dtype, entry)
        for name, by_dtype in record.items()
        for dtype, entry in by_dtype.items()
    )
    head = ("operation", "dtype", "documented", "greatest found", "at", "operands tried")
    return (
        "# Accuracy\n\n"
        "The greatest errors of the operations whose results may differ from NumPy's in the last\n"
        "bits, in units in the last\n"
        "place (ULP) of the exact result; 0.5 is the least possible. All numbers of float32 were\n"
        "tried for operations of one operand (`python -m tests.accuracy.sweep`, against float64).\n"
        "The rest was searched (`python -m tests.accuracy.hunt`, against extended precision, the\n"
        "worst against mpmath): numbers of all exponents, the neighbors of powers of two and of\n"
        "the limits of each reduction, the angles closest to multiples of pi / 2, and what lies\n"
        "around the worst operands known. A test checks the operands listed and their neighbors.\n"
        "Every CPU gives the same bits.\n\n" + _table(head, (_measured(*row) for row in found))
    )


def _measured(name: str, dtype: str, entry: dict[str, Any]) -> tuple[str, ...]:
    error, *operands = entry["worst"][0]
    at = ", ".join(repr(float.fromhex(x)) for x in operands)
    tried = "all" if entry["inputs"] == 1 << 32 else f"{entry['inputs']:.1e}"
    return f"`{name}`", dtype, f"{ROWS[name].ulp[dtype]:g}", f"{error:.3f}", at, tried


def _operation(row: Op) -> tuple[str, ...]:
    library = [row.numpy] if row.library is not None else []
    named = [*row.spellings, *library]
    calls = dict.fromkeys([*map(_spelling, named), *(f"`.{m}`" for m in row.methods)])
    return (
        f"`{row.name}`",
        row.doc.replace("|", "\\|"),
        ", ".join(calls),
        f"`{row.matlab}`" if row.matlab else "",
        _accuracy(row),
        _accuracy_on_gpus(row),
        ", ".join(sorted(row.events)),
    )


def _spelling(function: Callable[..., object]) -> str:
    if isinstance(function, LibraryUfunc):
        return f"`{function.module}.{function.name}`"
    module = getattr(function, "__module__", None) or ""
    numpy = isinstance(function, np.ufunc) or module.startswith("numpy")
    prefix = "np." if numpy else "operator." if module == "_operator" else ""
    return f"`{prefix}{function.__name__}`"


def _accuracy(row: Op) -> str:
    if row.exactness == "bit-defined":
        own = row.complex_exactness == "ours"
        return "NumPy's bits; of complex numbers our own" if own else "NumPy's bits"
    if row.ulp:
        return f"{max(row.ulp.values()):g} ULP"
    if row.reduction is None:
        return "as its sum"
    if row.reduction.combine == "mul":
        return "n u, relative, of n factors"
    return f"c = {row.reduction.bound:g}"


def _accuracy_on_gpus(row: Op) -> str:
    if row.gpu_ulp:
        return f"{max(row.gpu_ulp.values()):g} ULP"
    return _accuracy(row) if row.exactness == "ours" else "the CPU's bits"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


GROUPS: dict[Group, str] = {
    "off": "You asked for plain Python",
    "call": "Plain Python because of the arguments",
    "source": "Plain Python because of the function's source",
    "capture": "Recorded at every call",
    "device": "On another device",
    "fusion": "Several kernels instead of one",
}


def reasons() -> str:
    """The page that lists all reasons."""
    sections = (
        f"## {title}\n\n"
        + _table(
            ("reason", "cause", "what to do"),
            (
                (f"[{row.id}]({row.id}.md)", row.cause, row.hint)
                for row in CAUSES.values()
                if row.group == group
            ),
        )
        for group, title in GROUPS.items()
    )
    return (
        "# Reasons\n\n"
        "Why something was not captured, not compiled or not fused, as `f.explain(...)` reports\n"
        "it. `fullgraph=True` raises `CaptureError` for all but the first and the last group.\n"
        "Each page has an example with the reason and one without.\n\n" + "\n".join(sections)
    )


CALLEES: dict[str, tuple[Names, ...]] = {
    "Functions and classes": FUNCTIONS,
    "Methods and attributes": METHODS,
    "Libraries": LIBRARIES,
}


def called() -> str:
    """The page of callables, from the table of capture."""
    head = ("where", "callables", "followed as", "facts")
    sections = (
        f"## {title}\n\n" + _table(head, map(_callee, rows)) for title, rows in CALLEES.items()
    )
    return (
        "# Callables\n\n"
        "What is known of callables beside the [operations](ops.md). *pure*: the result depends\n"
        "on the arguments alone, and nothing is written. *cannot raise*: a call that succeeded\n"
        "once does so for all values, with a result of the same dtype, shape and strides.\n"
        "*shape*: the law for the shape of the result. *ordered*: later calls make the call again\n"
        "at that point. *calls back*: it calls what it is given. An asterisk is every other\n"
        "function of that module. What is not listed is an effect:\n"
        "[unknown-call](../reasons/unknown-call.md).\n"
        "\n" + "\n".join(sections)
    )


def _callee(row: Names) -> tuple[str, ...]:
    place = "" if row.where == "builtins" else f"`{row.where}`"
    names = ", ".join("*" if name == "*" else f"`{name}`" for name in row.names.split())
    follow = "an effect" if row.callee == EFFECT else row.callee.follow or "a host call"
    return place, names, follow, ", ".join(_facts(row.callee))


def _facts(callee: Callee) -> Iterable[str]:
    flags = ("pure", "cannot_raise", "ordered", "calls_back", "view")
    for flag in flags:
        fact = getattr(callee, flag)
        name = flag.replace("_", " ")
        if fact:
            yield name if fact is True else f"{name} if {fact.__name__.replace('_', ' ')}"
    if callee.writes is not None:
        yield f"writes argument {callee.writes}"
    if callee.result is not None:
        yield f"shape: {callee.result.__name__}"


def builtins() -> str:
    """The page of MATLAB's builtins, from their declarations."""
    sections = (
        f"## {category.replace('_', ' ').capitalize()}\n\n"
        + _table(("function", "arguments", "meaning"), map(_builtin, _entries(category)))
        for category in CATEGORIES
    )
    missing = ", ".join(f"`{name}`" for name in sorted(NOT_SUPPORTED))
    return (
        "# Builtins of MATLAB programs\n\n"
        "The functions that [MATLAB programs](../guide/matlab.md) may call beside their own, and\n"
        "how many arguments each takes. Methods of classes (`datetime`, `table`, maps) are in the\n"
        "guide.\n\n" + "\n".join(sections) + f"\n## Not supported\n\nNot there yet: {missing}.\n"
    )


def _entries(category: str) -> Iterable[Builtin]:
    return (entry for _, entry in sorted(declared_in(category).items()))


def _builtin(row: Builtin) -> tuple[str, ...]:
    counts = str(row.least) if row.least == row.most else f"{row.least} to {row.most}"
    if row.most is None:
        counts = f"{row.least} or more"
    doc = " ".join(row.doc.split()).replace("|", "\\|")
    return f'<a id="{row.name}"></a>`{row.name}`', counts, doc


DECIDING: dict[str, tuple[str, ...]] = {
    "How often is often": ("core/hotness",),
    "What it costs to compute, in calls of NumPy": ("core/prices",),
    "How CPUs and GPUs are built": ("core/hardware",),
    "Where programs run": ("plan/place", "plan/price", "plan/cost", "plan/device"),
    "Recorded, replayed, or left to Python": (
        *("capture/record/balance", "capture/replay/bailout", "capture/trial"),
        *("core/evidence", "plain_tier", "capture/replay/gatekeeper"),
        *("capture/record/plain_execution", "capture/record/elements"),
    ),
    "Loops that run natively": (
        "loops/program",
        "loops/driver",
        "loops/reads",
        "loops/tiles",
        "loops/registers",
    ),
    "What fuses": (
        *("passes/fusion/groups", "passes/fusion/grower", "passes/fusion/own_products"),
        *("passes/fusion/device_products", "passes/split_extremes", "passes/cut_at_joins"),
        *("passes/move_views", "passes/fusion/blas_products", "ops/assemble"),
    ),
    "How kernels are cut": (
        *("lower/elementwise", "lower/lane_reduction", "lower/reduction_problem", "lower/bands"),
        *("lower/product_rows", "lower/product_sums", "lower/position_region", "lower/scan"),
        "backends/wgpu/schedule",
    ),
    "MATLAB programs": (
        *("lazy_engine", "interpreter/native/run", "interpreter/native/scalar_functions"),
    ),
}
"""Modules whose constants choose between ways to do the same, by what they decide."""


def thresholds() -> str:
    """The page of the numbers by which one way is chosen, and another is not."""
    numbers = list[tuple[str, list[tuple[str, ...]]]]()
    derived = list[tuple[str, list[tuple[str, ...]]]]()
    for title, names in DECIDING.items():
        package = "matlab_frontend" if title.startswith("MATLAB") else "runmat_jit"
        rows: list[tuple[str, ...]] = [
            (f"`{name}`", f"`{value}`", meaning, f"`{package}/{module}.py`")
            for module in names
            for name, value, meaning in constants_of(DOCS.parent / package / f"{module}.py")
        ]
        own = [row for row in rows if not re.search("[A-Z]", row[1])]
        for found, into in ((own, numbers), ([r for r in rows if r not in own], derived)):
            if found:
                into.append((f"## {title}\n\n", found))
    head = ("name", "value", "meaning", "module")
    count = sum([len(rows) for _, rows in numbers])
    return (
        "# Thresholds\n\n"
        "The numbers by which one strategy is chosen and another is not. What can be\n"
        "predicted from a profile of the machine is ([where programs run](../guide/placement.md):\n"
        "devices, threads, cells); these are what is not: counts of calls and iterations, prices\n"
        f"in calls of NumPy, and sizes that depend on how CPUs and GPUs are built. {count} of\n"
        "them are numbers; the others follow from these.\n\n"
        + "\n".join(title + _table(head, rows) for title, rows in numbers)
        + "\n## What follows from them\n\n"
        + "\n".join("#" + title + _table(head, rows) for title, rows in derived)
    )


def constants_of(path: Path) -> Iterable[tuple[str, str, str]]:
    """Numbers that a module names in capitals: name, value and the docstring that follows.

    The value is a number, or an expression of other such names.
    """
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for statement, following in pairwise([*body, ast.Pass()]):
        match statement:
            case (
                ast.Assign(targets=[target], value=value)
                | ast.AnnAssign(target=target, value=ast.expr() as value)
            ):
                names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
            case _:
                continue
        shown = ast.unparse(value).strip("()")
        is_number = all(
            isinstance(each, ast.BinOp | ast.operator | ast.Tuple | ast.expr_context)
            or (isinstance(each, ast.Constant) and type(each.value) in (int, float))
            or (isinstance(each, ast.Name) and each.id.isupper())
            for each in ast.walk(value)
        )
        if not (is_number and all(name.isupper() for name in names)):
            continue
        match following:
            case ast.Expr(value=ast.Constant(value=str() as told)):
                yield ", ".join(names), shown, without_roles(" ".join(told.split()))
            case _:
                raise ValueError(f"{path.name}: nobody says why {names[0]} is {shown}")


def without_roles(text: str) -> str:
    """A docstring's text, names in it as code."""
    return re.sub(r":\w+:`[.~]*([^`]+)`", r"`\1`", text).replace("``", "`").replace("|", "\\|")


PAGES: dict[str, Callable[[], str]] = {
    "reference/config.md": configuration,
    "reference/thresholds.md": thresholds,
    "reference/ops.md": operations,
    "reference/accuracy.md": accuracy,
    "reference/callables.md": called,
    "reference/builtins.md": builtins,
    "reasons/index.md": reasons,
}


def main() -> None:
    for name, page in PAGES.items():
        (DOCS / name).write_text(NOTICE + page(), encoding="utf-8")


if __name__ == "__main__":
    main()
