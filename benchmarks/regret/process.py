"""One program in a process of its own: calls as they are and decorated, in alternation."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isclose
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

from benchmarks.regret.decorate import CHOSEN

PROGRAMS = Path(__file__).with_name("programs")
LIMIT_S = 60.0
"""Seconds of calls after which no more are made."""


@dataclass
class Measured:
    """Seconds of each call, decorated and plain; of importing beyond NumPy."""

    program: str
    ours: list[float] = field(default_factory=list)
    plain: list[float] = field(default_factory=list)
    import_s: float = 0.0
    modules: int = 0
    same: bool = True
    """The results agree."""


def measure(program: str, calls: int, cache: str, *, loaded: bool) -> Measured:
    """Measure a program in a fresh process.

    ``cache``: the directory of its disk cache; ``loaded``: the compiler has been used before.
    """
    done = subprocess.run(
        [sys.executable, "-c", SERVE, program, str(calls), str(int(loaded))],
        env={**os.environ, "RUNMAT_COMPILE": "hot", "RUNMAT_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{program}: {done.stderr}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def run(program: str, calls: int, *, loaded: bool) -> Measured:
    """Measure a program here."""
    found = Measured(program)
    import numpy as np  # noqa: PLC0415  (before the clock runs)

    np.ones(3).sum()
    begin = perf_counter()
    import runmat_jit as runmat  # noqa: PLC0415  (timed)

    found.import_s = perf_counter() - begin
    if loaded:
        warm_up(runmat.jit)
    plain = load(program, None)
    ours = load(program, runmat.jit)
    other = load(program, None)
    other()  # NumPy's own first call: its modules, its memory
    for number in range(calls):
        order = (plain, found.plain), (ours, found.ours)
        results = []
        for fn, times in order if number % 2 else order[::-1]:
            begin = perf_counter()
            results.append(fn())
            times.append(perf_counter() - begin)
        found.same = found.same and agree(*results)
        if sum(found.plain) + sum(found.ours) > LIMIT_S:
            break
    found.modules = sum(name.startswith("runmat_jit.") for name in sys.modules)
    return found


def warm_up(jit: Callable[..., Any]) -> None:
    """Have the compiler loaded: a function, and a loop."""
    import numpy as np  # noqa: PLC0415  (see run)

    @jit(compile="first call")
    def used(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            total = total * 0.5 + x[i]
        return x * 2 + total

    for _ in range(4):
        used(np.ones(3000))


def load(program: str, jit: Callable[[Any], Any] | None) -> Callable[[], Any]:
    """Return what makes a call of a program, all of which is decorated with ``jit``."""
    CHOSEN.jit = jit
    name, _, small = program.partition(":")
    if small:
        from benchmarks.regret.small import prepared  # noqa: PLC0415  (needs NumPy)

        return prepared(module(name, jit), small)
    return module(f"programs/{name}", jit).run  # type: ignore[no-any-return]  # a function


def module(name: str, jit: Any) -> ModuleType:
    """Load a module of programs anew."""
    path = PROGRAMS.parent / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"{path.stem}_{jit is not None}", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[made.__name__] = made
    spec.loader.exec_module(made)
    made.jit = CHOSEN.jit or undecorated  # type: ignore[attr-defined]  # for functions made in calls
    return made


def undecorated(fn: Any) -> Any:
    """Return a function as it is."""
    return fn


def agree(one: Any, other: Any) -> bool:
    """True if two results are the same but for rounding."""
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, float):
        return isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


SERVE = """
import json, sys
from dataclasses import asdict
from benchmarks.regret.process import run
print(json.dumps(asdict(run(sys.argv[1], int(sys.argv[2]), loaded=sys.argv[3] == "1"))))
"""
