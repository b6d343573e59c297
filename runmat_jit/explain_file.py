"""``python -m runmat_jit explain FILE:function``: what happened with a function in a program."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path

from runmat_jit.api import config
from runmat_jit.jit_function import JitFunction
from runmat_jit.runtime.session import current_session


def explain_file(target: str, arguments: Sequence[str] = (), *, as_json: bool = False) -> int:
    """Run a program as Python does, then print what happened with the calls of one function.

    Functions are compiled at their first call: there may be few of them.

    Args:
        target: The file, a colon, and the name of a decorated function in it; a method as
            ``Class.method``.
        arguments: Of the program.
        as_json: Print a list of what ``to_dict()`` gives, in place of text.

    Returns:
        0, or 2 where there is no such file or function, which is said.

    """
    file, _, name = target.rpartition(":")
    if not file or not Path(file).is_file():
        return _refuse(f"there is no file {file or target!r}; ask for FILE:function")
    if current_session().config.compile != "first call":
        config(compile="first call")
    before = sys.argv, sys.path[:]
    sys.argv = [file, *arguments]
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        namespace = runpy.run_path(file, run_name="__main__")
    except SystemExit:
        return _refuse(f"{file} has ended its process before its end: its functions are gone")
    finally:
        sys.argv, sys.path[:] = before
    first, _, rest = name.partition(".")
    try:
        found = attrgetter(rest)(namespace[first]) if rest else namespace[first]
    except (KeyError, AttributeError):
        return _refuse(f"{file} has no {name}")
    if not isinstance(found, JitFunction):
        return _refuse(f"{name} is not decorated with @runmat.jit")
    if as_json:
        told = [each.to_dict() for each in dict.fromkeys(found.explanations())]
        sys.stdout.write(json.dumps(told, indent=1, default=str) + "\n")
        return 0
    answers = list(dict.fromkeys(map(str, found.explanations())))
    if not answers:
        answers = [found.story()]
    sys.stdout.write("\n".join(answers) + "\n")
    return 0


def _refuse(why: str) -> int:
    sys.stderr.write(f"error: {why}\n")
    return 2
