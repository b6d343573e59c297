"""Write the reference pages from the declarations in the code: `python docs/generate.py`.

The pages are committed, and a test compares them with what this module would write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from runmat_jit.core.config import OPTIONS, Config

REFERENCE = Path(__file__).parent / "reference"
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
    )


def _value(defaults: Config, name: str) -> str:
    value = getattr(defaults, name)
    return "none" if value in ("", frozenset()) else f"`{value}`"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


PAGES: dict[str, Callable[[], str]] = {"configuration.md": configuration}


def main() -> None:
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(NOTICE + page(), encoding="utf-8")


if __name__ == "__main__":
    main()
