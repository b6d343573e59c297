"""``%load_ext runmat_jit``: ``%%runmat`` and ``%%matlab`` in IPython and Jupyter."""

from __future__ import annotations

import ast
import copy
import random
import shlex
import types
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from runmat_jit import matlab
from runmat_jit.core.errors import ArgumentError
from runmat_jit.plan.price import shown
from runmat_jit.profile_script import short
from runmat_jit.profiled_run import (
    DEFAULTS,
    MARK,
    CallNode,
    ScriptRun,
    Wrapping,
    end_timing,
    said_of,
)

OPTIONS: Final = {"--first": "first call", "--hot": "hot", "--once": None}
"""Options of ``%%runmat``, and when functions are compiled with them."""
_DATA: Final = (np.ndarray, np.generic, np.random.Generator, list, dict, set)
"""Classes of variables that are copied for the plain run; others are shared with it."""


class CellCompiler(Protocol):
    """The part of IPython's compiler that is used here."""

    def cache(self, transformed_code: str) -> str:
        """Keep the source of a cell for tracebacks, and return the name of its file."""


class NotebookShell(Protocol):
    """The part of IPython's shell that is used here."""

    user_ns: MutableMapping[str, Any]
    compile: CellCompiler

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as Python, without magics."""

    def register_magic_function(self, func: Any, magic_kind: str, magic_name: str) -> None:
        """Add a magic."""


def add_magics(shell: NotebookShell) -> None:
    """Add ``%%runmat`` and ``%%matlab`` to a shell."""
    shell.register_magic_function(RunmatMagic(shell), "cell", "runmat")
    matlab.load_ipython_extension(shell)


class RunmatMagic:
    """Decorate the functions of a cell, run the cell, and show what was gained.

    ``%%runmat`` runs the cell twice. The first run is plain Python, on copies of its arrays, lists,
    dictionaries and generators, and shows nothing; its other effects, such as files, happen twice.
    The second run is the cell's own: its functions are decorated with ``@runmat.jit``, and stay so.

    ``--once`` leaves the plain run out; ``--first`` compiles functions at their first call, and
    ``--hot`` once that pays, whatever the option ``compile`` says.
    """

    def __init__(self, shell: NotebookShell) -> None:
        self._shell = shell

    def __call__(self, line: str, cell: str) -> Any:
        chosen = shlex.split(line)
        unknown = [each for each in chosen if each not in OPTIONS]
        if unknown:
            raise ArgumentError(f"%%runmat: {unknown[0]!r}: there are {', '.join(OPTIONS)}")
        compiles = next(filter(None, map(OPTIONS.get, chosen)), None)
        run = MagicCell.of(self._shell, cell)
        plain = None
        if "--once" not in chosen:
            plain = _plain_times(run, self._shell.user_ns)
        decorated = ScriptRun(plain=False, options={**DEFAULTS, "compile": compiles})
        try:
            return run.execute(self._shell.user_ns, decorated.wrap)
        finally:
            for function in decorated.decorated.values():
                end_timing(function)
            _report(plain, decorated)


class MagicCell:
    """The code of a cell: statements, and the expression at its end, if there is one."""

    def __init__(self, body: types.CodeType, last: types.CodeType | None, names: set[str]) -> None:
        self.body, self.last, self.names = body, last, names

    @classmethod
    def of(cls, shell: NotebookShell, text: str) -> MagicCell:
        """Return a cell whose functions get the decorator."""
        source = shell.transform_cell(text)
        file = shell.compile.cache(source)
        tree = ast.parse(source, file)
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            value = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]  # an Expr
            last = compile(value, file, "eval")
        body = ast.fix_missing_locations(Wrapping().visit(tree))
        return cls(compile(body, file, "exec"), last, names)

    def execute(self, namespace: MutableMapping[str, Any], wrap: Callable[[Any], Any]) -> Any:
        """Run the cell, and return the value of its last expression."""
        namespace[MARK] = wrap
        try:
            exec(self.body, namespace)  # type: ignore[arg-type]  # noqa: S102  (the user's cell)
            if self.last is None:
                return None
            return eval(self.last, namespace)  # type: ignore[arg-type]  # noqa: S307  (likewise)
        finally:
            del namespace[MARK]


def _plain_times(cell: MagicCell, notebook: MutableMapping[str, Any]) -> CallNode | None:
    """Return the calls of a plain run on copies; None if it fails, as the cell itself will."""
    from IPython.utils.capture import capture_output  # noqa: PLC0415  (IPython calls this)

    plain = ScriptRun(plain=True)
    memo: dict[int, Any] = {}
    namespace = dict(notebook)
    for name in cell.names & namespace.keys():
        if isinstance(namespace[name], _DATA):
            namespace[name] = _copied(namespace[name], memo)
    with capture_output(), _same_random_numbers():
        try:
            cell.execute(namespace, plain.wrap)
        except Exception:  # noqa: BLE001  (the user sees it when the cell itself runs)
            return None
    return plain.timer.root


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    try:
        return copy.deepcopy(value, memo)
    except Exception:  # noqa: BLE001  (what cannot be copied is shared)
        return value


@contextmanager
def _same_random_numbers() -> Iterator[None]:
    """Restore the global generators: the next run gets the same numbers."""
    state, legacy = random.getstate(), np.random.get_state()  # noqa: NPY002  (the user's may be)
    try:
        yield
    finally:
        random.setstate(state)
        np.random.set_state(legacy)  # noqa: NPY002  (likewise)


def _report(plain: CallNode | None, run: ScriptRun) -> None:
    """Print the calls of each function, plain and decorated, and what became of them."""
    calls = run.timer.root.children
    if not calls:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("function", overflow="fold")
    for heading in ("calls", "plain", "@jit", "first call", "gain"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("compiled", overflow="fold")
    for name, node in calls.items():
        before = None if plain is None else plain.children.get(name)
        said = said_of(run.decorated[name])
        cells = [_time(None if before is None else before.seconds), _time(node.seconds)]
        cells.append(_time(node.first))
        cells.append("" if before is None else f"{before.seconds / max(node.seconds, 1e-9):.3g}x")
        table.add_row(short(name), str(node.calls), *cells, _compiled(said))
    Console().print(table)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else shown(1e6 * seconds)


def _compiled(said: dict[str, Any]) -> str:
    """Return what was compiled of a function, or the first reason why nothing was."""
    if said.get("done"):
        return str(said["done"])
    return next(iter(said.get("why", ())), "nothing")
