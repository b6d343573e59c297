"""What was done with a call: regions, kernels, lines, bytes, and reasons."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from runmat_jit.compiler.region_report import Behind, RegionReport
from runmat_jit.core.frozen import immutable
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine
from runmat_jit.core.wording import count, listed, size, wrapped

if TYPE_CHECKING:
    from runmat_jit.plan.place import Decision


@immutable
class Explanation:
    """What happens with calls like this one. ``str()`` is meant for people."""

    function: str
    mode: str
    """``replayed``, ``recorded at every call`` or ``plain Python``."""
    regions: tuple[RegionReport, ...]
    reasons: tuple[Reason, ...]
    notes: tuple[str, ...] = ()
    host_calls: tuple[str, ...] = ()
    """Calls that NumPy computes between the regions, with their lines."""
    loops: tuple[str, ...] = ()
    """Loops over elements, and how each runs."""
    placements: tuple[Decision, ...] = ()
    """Where each program runs, what it is predicted to take there, and why it does."""
    behind: Behind = Behind()

    @property
    def kinds(self) -> list[str]:
        """The fusion kind of each region, in order; ``host`` for a call of NumPy's."""
        return [region.kind for region in self.regions]

    @property
    def devices(self) -> list[str]:
        """Device of each region, then the CPU once for each native loop."""
        native = [loop for loop in self.loops if ": natively" in loop]
        return [*(region.device for region in self.regions), *("cpu" for _ in native)]

    def __str__(self) -> str:
        kernels = sum(region.kernels for region in self.regions)
        totals = f"{count(len(self.regions), 'region')}, {count(kernels, 'kernel')}"
        lines = [f"{self.function}: {self.mode}; {totals}"]
        for (number, *others), region in self.distinct():
            by = "NumPy" if region.by_host else count(region.kernels, "kernel")
            lines.append(
                f"  {number}. {region.kind} on {region.device}: {by}, "
                f"reads {size(region.bytes_read)}, writes {size(region.bytes_written)}"
            )
            lines.append(f"     {', '.join(region.operations)}")
            lines.extend(f"     at {line}" for line in region.lines)
            lines.extend(f"     stops here: {reason}" for reason in region.reasons)
            if others:
                lines.append(f"     alike: {listed(others)}")
        if self.host_calls:
            lines.append("  NumPy computes:")
            lines.extend(f"  - {call}" for call in self.host_calls)
        if self.loops:
            lines.append("  loops:")
            lines.extend(f"  - {loop}" for loop in self.loops)
        decided = [each for each in self.placements if each.was_free]
        if decided:
            lines.append("  placed:")
            alike = {each.as_decided: each for each in reversed(decided)}
            lines.extend(f"  - {each}" for each in reversed(alike.values()))
        if self.reasons:
            lines.append("  not captured or not repeated:")
            lines.extend(f"  - {reason}" for reason in self.reasons)
            lines.append("  each is explained in docs/reasons/")
        lines.extend(f"  note: {note}" for note in self.notes)
        return "\n".join(part for line in lines for part in wrapped(line))

    def distinct(self) -> list[tuple[list[int], RegionReport]]:
        """Return each distinct region with the numbers of those that equal it.

        The iterations of an unrolled loop have equal regions.
        """
        numbers: dict[RegionReport, list[int]] = {}
        for number, region in enumerate(self.regions, 1):
            numbers.setdefault(region, []).append(number)
        return [(own, region) for region, own in numbers.items()]

    def to_dict(self) -> dict[str, object]:
        """Return the explanation as lists, strings and numbers, for JSON."""
        placements = [each.to_dict() for each in self.placements]
        found = asdict(replace(self, behind=Behind())) | {"placements": placements}
        del found["behind"]
        return found | {"kinds": self.kinds, "devices": self.devices}

    def to_html(self, path: str | Path) -> None:
        """Write a self-contained page: the source by line, regions, graph, times and reasons.

        Args:
            path: The file to write; an older one is replaced.

        Raises:
            OSError: the file cannot be written.

        """
        from runmat_jit.compiler.explanation_page import page_of  # noqa: PLC0415  (with a page)

        Path(path).write_text(page_of(self), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        from runmat_jit.compiler.explanation_page import fragment_of  # noqa: PLC0415  (likewise)

        return fragment_of(self)


def show_host_call(call: tuple[str, SourceLine | None]) -> str:
    """The name of a function and the line that calls it."""
    name, line = call
    return f"{name} ({line.short()})" if line is not None else name
