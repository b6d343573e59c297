"""The command line: ``script.m``, ``-e code``, ``--check path``, or the prompt."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from matlab_frontend.command_line import (
    HELP,
    USAGE,
    WRONG_USAGE,
    Options,
    UsageError,
    read_options,
)
from matlab_frontend.errors import MatlabError, MatlabSyntaxError
from matlab_frontend.run import engine_for, home_of, read_source, run_source
from matlab_frontend.search_path import SearchPath
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit.core.errors import RunMatError
from runmat_jit.core.log import LOG
from runmat_jit.runtime.session import current_session

INTERRUPTED = 130
"""What shells say of a program that Ctrl+C ended: 128 and the signal's number."""
NO_READER = 141
"""Likewise of one whose output nobody reads any more."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a program; 0 if it ended by itself, 1 after an error, files that cannot be read too."""
    try:
        options = read_options(sys.argv[1:] if arguments is None else arguments)
    except UsageError as error:
        return _fail(f"{USAGE}error: {error}", WRONG_USAGE)
    if options.help:
        sys.stdout.write(HELP)
        return 0
    try:
        if current_session().config.log:
            import logging  # noqa: PLC0415  (with the option alone)

            logging.basicConfig()
        return _do(options)
    except KeyboardInterrupt:
        return _fail("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        # What is still to be written goes nowhere; or else Python complains at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except RunMatError as error:
        return _fail(_with_place(f"Error: {error}", error))
    except Exception as error:
        LOG.debug("The command line shows one line of this error:", exc_info=error)
        return _fail(_with_place(f"Internal error: {_described(error)}; please report it", error))


def _do(options: Options) -> int:
    if options.check:
        from matlab_frontend.check.command import check  # noqa: PLC0415  (with the option alone)

        return check(options.check)
    if options.script is None and options.code is None and sys.stdin.isatty():
        from matlab_frontend.interactive.terminal import converse  # noqa: PLC0415  (without a script)

        return converse(options.device)
    return _run(options)


def _run(options: Options) -> int:
    try:
        source = _source_of(options)
    except OSError as error:
        name = options.script or "<input>"
        missing = f"Error (MATLAB:run:FileNotFound): {name}: {error.strerror}."
        return _fail(missing)
    home = home_of(source)
    session = Session(engine_for(options.device), path=SearchPath(home))
    if options.time:
        from matlab_frontend.line_times import LineTimes  # noqa: PLC0415  (with the option alone)

        session.line_times = LineTimes()
    try:
        run_source(source, {}, session, frozenset())
    except MatlabSyntaxError as error:
        sys.stdout.flush()
        return _fail(str(error))
    except MatlabError as error:
        sys.stdout.flush()
        return _fail(report(error))
    finally:
        if options.explain:
            sys.stderr.write(session.explain())
        sys.stdout.flush()
        if session.line_times is not None:
            session.line_times.print_table()
    return session.exit_status or 0


def _source_of(options: Options) -> Source:
    if options.code is not None:
        return Source(options.code, "<text>")
    if options.script in (None, "-"):
        return Source.from_bytes(sys.stdin.buffer.read(), "<input>")
    return read_source(Path(options.script))


def report(error: MatlabError) -> str:
    """What a user reads: identifier, message, and the place with a caret below it."""
    name = f" ({error.identifier})" if error.identifier else ""
    return _with_place(f"Error{name}: {error.message}", error)


def _with_place(message: str, error: Exception) -> str:
    return "\n".join([message, *getattr(error, "__notes__", ())])


def _described(error: Exception) -> str:
    """The class and the first line of an error's text."""
    return ": ".join([type(error).__name__, *str(error).splitlines()[:1]])


def _fail(message: str, status: int = 1) -> int:
    sys.stderr.write(f"{message}\n")
    return status
