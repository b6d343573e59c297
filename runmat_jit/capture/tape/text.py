"""Tapes as text."""

from __future__ import annotations

from collections.abc import Iterable

from runmat_jit.capture.tape.entries import Entry, Mark


def to_text(tape: Iterable[Entry | Mark]) -> str:
    """One item a line."""
    return "".join(f"{item}\n" for item in tape)
