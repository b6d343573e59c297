"""The record of the greatest errors found, which ``docs/reference/accuracy.md`` shows."""

import json
from dataclasses import dataclass

from docs.generate import ACCURACY


@dataclass(frozen=True)
class Found:
    """An error in units in the last place, and the operands that have it."""

    error: float
    operands: tuple[float, ...]


def record():
    """What was measured, by row and dtype."""
    return json.loads(ACCURACY.read_text(encoding="utf-8")) if ACCURACY.exists() else {}


def keep(name, dtype, inputs, worst):
    """Write down the worst operands of a row, and how many were tried."""
    known = record()
    known.setdefault(name, {})[dtype] = {
        "inputs": inputs,
        "worst": [[round(f.error, 4), *(x.hex() for x in f.operands)] for f in worst],
    }
    ordered = {row: dict(sorted(entry.items())) for row, entry in sorted(known.items())}
    ACCURACY.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def worst_of(name, dtype):
    """The recorded errors of a row, worst first."""
    rows = record()[name][dtype]["worst"]
    return [Found(error, tuple(map(float.fromhex, operands))) for error, *operands in rows]
