"""Runs a program from a file or a text."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from matlab_frontend.engine import Adapter, Engine
from matlab_frontend.interpreter.interpreter import Interpreter
from matlab_frontend.lazy_engine import LazyEngine, Where
from matlab_frontend.parser import parse
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from matlab_frontend.workspace import Workspace, from_python

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.loops.sites import Loops

_PYTHON_FRAMES = 20_000
"""Python frames for 500 calls of MATLAB functions within one another."""


def read_source(program: str | Path) -> Source:
    """The text of a file, or a text that is no file's name.

    A ``str`` is a file's name if it ends with ``.m`` and holds no line break.
    """
    if isinstance(program, Path) or (program.endswith(".m") and "\n" not in program):
        return Source.from_file(program)
    return Source(program, "<text>")


def engine_for(device: str) -> Engine:
    """The engine that computes on a device: ``auto``, ``cpu`` or ``gpu``."""

    def make_tracer(where: Where) -> Tracer:
        from runmat_jit.api import program_tracer  # noqa: PLC0415  (with the first large array)

        return program_tracer(device, where)

    def find_loops() -> Loops | None:
        from runmat_jit.api import native_loops  # noqa: PLC0415  (with the first long loop)

        return native_loops()

    find_adapter = _adapter if device == "gpu" else lambda: None
    return LazyEngine(make_tracer, find_adapter=find_adapter, find_loops=find_loops)


def _adapter() -> Adapter | None:
    """The GPU of the session, if it has one."""
    from runmat_jit.array import has_gpu  # noqa: PLC0415  (programs for GPUs)
    from runmat_jit.runtime.session import current_session  # noqa: PLC0415  (likewise)

    if not has_gpu():
        return None
    info = current_session().gpu.info
    return Adapter(info.name, "f64" in info.kinds)


def run_program(
    program: str | Path, variables: Mapping[str, Any], device: str = "auto"
) -> Workspace:
    """Run a file or a text; functions in files beside it are found."""
    source = read_source(program)
    path = SearchPath(home=home_of(source))
    return run_source(source, variables, Session(engine_for(device), path=path))


def home_of(source: Source) -> tuple[Path, ...]:
    """The folder of a program's file; none for a text."""
    return (Path(source.name).resolve().parent,) if source.name.endswith(".m") else ()


def run_source(
    source: Source,
    variables: Mapping[str, Any],
    session: Session,
    results: frozenset[str] | None = None,
) -> Workspace:
    """Run a program; gives the variables that it left.

    Those that are not among ``results`` may be missing, if there are such.

    Raises:
        MatlabError: the program raised it and did not catch it.
        MatlabSyntaxError: the text is no program.

    """
    held = {name: from_python(value) for name, value in variables.items()}
    program = parse(source, variables=held)
    interpreter = Interpreter(session)
    with surroundings():
        try:
            frame = interpreter.run(program, held, results)
        finally:
            session.streams.close_all()
    return Workspace(session.engine, frame.variables)


@contextmanager
def surroundings() -> Iterator[None]:
    """What Python and NumPy do while a program runs: recurse deeply, and warn of nothing."""
    with _deep_recursion(), np.errstate(all="ignore"), _warnings_of_numpy():
        yield


@contextmanager
def _warnings_of_numpy() -> Iterator[None]:
    """NumPy's warnings are not the program's; that imaginary parts would be lost is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        yield


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let Python recurse as deeply as MATLAB's own limit needs."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _PYTHON_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
