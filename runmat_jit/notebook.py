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
from runmat_jit.core.evidence import names_in
from runmat_jit.jit_function import JitFunction
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
_SHARED: Final = (types.ModuleType, type, types.BuiltinFunctionType, np.ufunc)
"""Classes of variables that the plain run shares with the notebook: they have no state of it."""


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

    ``%%runmat`` runs the cell twice. The first run is plain Python, on copies of the variables that
    the cell and the notebook's functions use, and shows nothing; effects outside of the notebook,
    such as files, happen twice. There is no such run where a variable cannot be copied. The second
    run is the cell's own: its functions are decorated with ``@runmat.jit``, and stay so.

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
    namespace = _copy_of(notebook, cell.names)
    if namespace is None:
        return None
    with capture_output(), _same_random_numbers():
        try:
            cell.execute(namespace, plain.wrap)
        except Exception:  # noqa: BLE001  (the user sees it when the cell itself runs)
            return None
    return plain.timer.root


def _copy_of(notebook: MutableMapping[str, Any], names: set[str]) -> dict[str, Any] | None:
    """Return a namespace like the notebook's in which a cell changes none of its variables.

    Functions of the notebook are plain, and see the copies. None: a variable cannot be copied.
    """
    namespace, memo = dict(notebook), dict[int, Any]()
    waiting, seen = list(names), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen or name not in notebook:
            continue
        seen.add(name)
        value = notebook[name]
        function = value.__wrapped__ if isinstance(value, JitFunction) else value
        if isinstance(function, types.FunctionType):
            if function.__globals__ is notebook:
                namespace[name] = _in_namespace(function, namespace)
                waiting += names_in(function.__code__)
        elif not isinstance(value, _SHARED):
            try:
                namespace[name] = copy.deepcopy(value, memo)
            except Exception:  # noqa: BLE001  (an open file, a lock, whatever its class raises)
                return None
    return namespace


def _in_namespace(function: types.FunctionType, namespace: dict[str, Any]) -> types.FunctionType:
    made = types.FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


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
