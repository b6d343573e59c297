"""The command line: ``script.m`` or ``-e code``."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.run import engine_for, read_source, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a program; 0 if it ended by itself, 1 after an error, files that cannot be read too."""
    options = _parser().parse_args(arguments)
    try:
        text = options.code
        source = read_source(options.script) if text is None else Source(text, "<text>")
    except OSError as error:
        missing = f"Error (MATLAB:run:FileNotFound): {options.script}: {error.strerror}."
        return _fail(missing)
    folder = Path(options.script).resolve().parent if options.script else Path.cwd()
    engine = engine_for(options.device)
    try:
        run_source(source, {}, Session(engine, folders=(folder, Path.cwd())), frozenset())
    except MatlabSyntaxError as error:
        return _fail(str(error))
    except MatlabError as error:
        return _fail(report(error))
    finally:
        if options.explain:
            sys.stderr.write(engine.explain())
        sys.stdout.flush()
    return 0


def report(error: MatlabError) -> str:
    """What a user reads: identifier, message, and the place with a caret below it."""
    name = f" ({error.identifier})" if error.identifier else ""
    return "\n".join([f"Error{name}: {error.message}", *getattr(error, "__notes__", ())])


def _fail(message: str) -> int:
    sys.stdout.flush()
    sys.stderr.write(f"{message}\n")
    return 1


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m runmat_jit.matlab", description="Run MATLAB programs.")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("script", nargs="?", type=Path, help="a file such as script.m")
    which.add_argument("-e", dest="code", metavar="code", help="run a text instead of a file")
    parser.add_argument(
        "--explain", action="store_true", help="say afterwards what was fused, and where it ran"
    )
    parser.add_argument("--device", choices=("auto", "cpu", "gpu"), default="auto")
    return parser
