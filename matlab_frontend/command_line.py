"""Options of the command line.

Loading ``argparse``, and what it loads itself, takes longer than reading and running a short
script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from runmat_jit.core.frozen import frozen

DEVICES: Final = ("auto", "cpu", "gpu")
USAGE: Final = (
    "usage: python -m runmat_jit.matlab [-h] [--explain] [--time] [--device {auto,cpu,gpu}]"
    " [script | -e code | --check path ...]\n"
)
HELP: Final = (
    USAGE
    + """
Run MATLAB programs; without arguments, those that are typed or piped in.

  script                   a file such as script.m
  -e code                  run a text instead of a file
  --check path ...         run nothing: print the mistakes in files, and in those of folders
  --explain                say afterwards what was fused, and where it ran
  --time                   say afterwards how long each line took
  --device {auto,cpu,gpu}  where large arrays are computed
  -h, --help               show this message and exit
"""
)
WRONG_USAGE: Final = 2
"""What a process exits with whose options make no sense."""


class UsageError(Exception):
    """Options that make no sense."""


@frozen
class Options:
    """What is to be run, and how: a file's name or a text, else what is typed."""

    script: str | None = None
    code: str | None = None
    check: tuple[str, ...] = ()
    explain: bool = False
    time: bool = False
    device: str = "auto"
    help: bool = False


def read_options(arguments: Sequence[str]) -> Options:
    """The options of a command.

    Raises:
        UsageError: there are others, or not what each of them needs.

    >>> read_options(["-e", "disp(1)", "--device=cpu"]).code
    'disp(1)'

    """
    given: dict[str, str] = {}
    left = iter(arguments)
    for word in left:
        name, equals, value = word.partition("=")
        if word in ("-h", "--help"):
            return Options(help=True)
        if word in ("--explain", "--time"):
            given[word[2:]] = word
        elif word == "--check":
            return _to_check(given, tuple(left))
        elif name == "--device":
            given["device"] = value if equals else _next(left, name)
        elif word == "-e":
            _once(given, "code", _next(left, word))
        elif word.startswith("-") and word != "-":
            raise UsageError(f"unrecognized arguments: {word}")
        else:
            _once(given, "script", word)
    return _checked(given)


def _to_check(given: dict[str, str], paths: tuple[str, ...]) -> Options:
    if given:
        raise UsageError("--check runs nothing, and stands alone before the paths")
    options = [path for path in paths if path.startswith("-")]
    if options or not paths:
        raise UsageError("argument --check: expected files and folders")
    return Options(check=paths)


def _next(left: Iterator[str], name: str) -> str:
    value = next(left, None)
    if value is None:
        raise UsageError(f"argument {name}: expected one argument")
    return value


def _once(given: dict[str, str], name: str, value: str) -> None:
    if not given.keys().isdisjoint({"script", "code"}):
        raise UsageError("one script or one -e code is run, not several")
    given[name] = value


def _checked(given: dict[str, str]) -> Options:
    device = given.get("device", "auto")
    if device not in DEVICES:
        raise UsageError(f"argument --device: {device!r}: there are {', '.join(DEVICES)}")
    return Options(
        given.get("script"),
        given.get("code"),
        explain="explain" in given,
        time="time" in given,
        device=device,
    )
