"""The programs of the suite, by group and name (``six.elementwise``)."""

from __future__ import annotations

from fnmatch import fnmatch
from importlib import import_module

from benchmarks.program import Program

GROUPS = (
    *("six", "named", "element_loops", "array_loops", "list_loops", "drawing_loops", "lane_loops"),
    *("small_loops", "warm", "products", "complex_numbers", "scans", "indexing"),
    *("gpu", "gpu_odd", "gpu_loops"),
)


def programs() -> dict[str, Program]:
    """Return all programs; each is tagged with its group."""
    return {
        f"{group}.{program.name}": program.tagged(group)
        for group in GROUPS
        for program in import_module(f"benchmarks.programs.{group}").PROGRAMS
    }


def chosen(only: str) -> dict[str, Program]:
    """Return the programs that one of some patterns names, with commas: groups, names or both.

    Raises:
        KeyError: a pattern names none.

    """
    known = programs()
    if not only:
        return known
    found: dict[str, Program] = {}
    for pattern in only.split(","):
        matching = {
            name: program
            for name, program in known.items()
            if pattern in program.tags or fnmatch(name, pattern) or fnmatch(program.name, pattern)
        }
        if not matching:
            raise KeyError(f"no program is called {pattern!r}, and no group")
        found |= matching
    return found


def sizes_of(wanted: str, program: Program) -> list[int]:
    """Return sizes of a program: ``usual``, ``small``, ``all`` of a plot, or numbers with commas.

    Raises:
        ValueError: it is none of these.

    """
    known = {"usual": [program.size], "small": [program.small], "all": [*program.plotted]}
    return known[wanted] if wanted in known else [int(size) for size in wanted.split(",")]
