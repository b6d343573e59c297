"""What was done with a call: regions, kernels, lines, bytes, and reasons."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from runmat_jit.core.frozen import immutable
from runmat_jit.core.reasons import Reason
from runmat_jit.core.source import SourceLine

if TYPE_CHECKING:
    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.graph.node import Node
    from runmat_jit.passes.fusion.region import Region
    from runmat_jit.plan.place import Decision


@immutable
class RegionReport:
    """One region: its fusion kind, device, operations, user lines, and why it is no larger.

    A host call is a region of the kind ``host``, without kernels.
    """

    kind: str
    device: str
    operations: tuple[str, ...]
    lines: tuple[str, ...]
    kernels: int
    bytes_read: int
    bytes_written: int
    reasons: tuple[Reason, ...]
    on_arrays: int = 0
    """The operations of kernels that make more than one number, or one of more than one."""
    by_host: bool = False
    """NumPy computes it."""


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
        for (number, *others), region in self._distinct():
            by = "NumPy" if region.by_host else count(region.kernels, "kernel")
            lines.append(
                f"  {number}. {region.kind} on {region.device}: {by}, "
                f"reads {size(region.bytes_read)}, writes {size(region.bytes_written)}"
            )
            lines.extend(wrapped(", ".join(region.operations)))
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
        return "\n".join(lines)

    def _distinct(self) -> list[tuple[list[int], RegionReport]]:
        """Each region with the numbers of those that are alike: a loop's, of its turns."""
        numbers: dict[RegionReport, list[int]] = {}
        for number, region in enumerate(self.regions, 1):
            numbers.setdefault(region, []).append(number)
        return [(own, region) for region, own in numbers.items()]

    def to_dict(self) -> dict[str, object]:
        """Plain lists, strings and numbers."""
        placements = [each.to_dict() for each in self.placements]
        found = asdict(self) | {"placements": placements}
        return found | {"kinds": self.kinds, "devices": self.devices}

    def to_html(self, path: str | Path) -> None:
        """Write the explanation as a page of its own, with all that ``str()`` tells."""
        import html  # noqa: PLC0415  (its table of characters takes a while to load)

        rows = "".join(
            f"<tr><td>{listed(own)}</td><td>{html.escape(r.kind)}</td><td>{html.escape(r.device)}</td>"
            f"<td>{r.kernels}</td><td>{size(r.bytes_read)}</td><td>{size(r.bytes_written)}</td>"
            f"<td>{html.escape(', '.join(r.operations))}</td>"
            f"<td>{html.escape('; '.join(r.lines))}</td>"
            f"<td>{html.escape('; '.join(map(str, r.reasons)))}</td></tr>"
            for own, r in self._distinct()
        )
        computed = [f"NumPy computes {call}" for call in self.host_calls]
        loops = [f"loop of {loop}" for loop in self.loops]
        placed = [f"placed {each}" for each in self.placements if each.was_free]
        notes = [*map(str, self.reasons), *computed, *loops, *placed, *self.notes]
        items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
        heads = ("#", "kind", "device", "kernels", "read", "written", "operations", "lines", "ends")
        head = "".join(f"<th>{name}</th>" for name in heads)
        title = html.escape(f"{self.function}: {self.mode}")
        style = "body{font:15px sans-serif;margin:2em}td,th{padding:.3em .8em;text-align:left}"
        page = (
            f"<!doctype html><meta charset=utf-8><title>{title}</title><style>{style}</style>"
            f"<h1>{title}</h1><table><tr>{head}</tr>{rows}</table><ul>{items}</ul>\n"
        )
        Path(path).write_text(page, encoding="utf-8")


def region_reports(compiled: CompiledGraph) -> list[RegionReport]:
    """The regions of a compiled graph."""
    regions = compiled.plan.regions
    groups = compiled.lowered.launches or ((),) * len(regions)
    waiting = [*map(_waits, regions, groups), False]
    return [
        report_region(region, 1 if waits or after else len(launches), compiled)
        for region, launches, waits, after in zip(
            regions, groups, waiting[:-1], waiting[1:], strict=True
        )
    ]


def _waits(region: Region, launches: Sequence[object]) -> bool:
    """Whether the kernel of a region runs in bands, together with those of the one before."""
    computes = region.kind == "elementwise" and any(node.type.size for node in region.outputs)
    return computes and not launches


def report_region(region: Region, kernels: int, compiled: CompiledGraph) -> RegionReport:
    """Report of one region."""
    from runmat_jit.graph.text import operation_name  # noqa: PLC0415  (with the first explanation)
    from runmat_jit.plan.cost import cost_of  # noqa: PLC0415  (likewise)

    lines = [node.line for node in region.nodes if node.line is not None]
    cost = cost_of(region, compiled.plan.in_place)
    return RegionReport(
        kind=region.kind,
        device=compiled.device,
        operations=tuple(map(operation_name, region.nodes)),
        lines=tuple(dict.fromkeys(line.short() for line in lines)),
        kernels=kernels,
        bytes_read=cost.bytes_read,
        bytes_written=cost.bytes_written,
        reasons=region.reasons,
        on_arrays=0 if region.is_host else sum(map(is_on_arrays, region.nodes)),
        by_host=region.is_host,
    )


def is_on_arrays(node: Node) -> bool:
    """Whether an operation has more to do than to read one element or compute one number."""
    return node.type.size > 1 or (node.op.kind == "reduce" and node.args[0].type.size > 1)


def show_host_call(call: tuple[str, SourceLine | None]) -> str:
    """The name of a function and the line that calls it."""
    name, line = call
    return f"{name} ({line.short()})" if line is not None else name


def reports_of(programs: Sequence[CompiledGraph]) -> list[RegionReport]:
    """The regions of every program of a recording."""
    return [report for program in programs for report in region_reports(program)]


def wrapped(names: str, width: int = 80) -> list[str]:
    """Lines of names, indented, of at most ``width`` characters."""
    indent = " " * 5
    return textwrap.wrap(names, width, initial_indent=indent, subsequent_indent=indent)


def count(number: int, noun: str) -> str:
    """``1 region``, ``2 regions``."""
    return f"{number} {noun}" + ("" if number == 1 else "s")


def listed(numbers: Sequence[int], most: int = 6) -> str:
    """``4``, ``4, 6``; many: some of them, and how many more there are."""
    shown = ", ".join(map(str, numbers[:most]))
    return shown + (f" and {len(numbers) - most} more" if len(numbers) > most else "")


def size(nbytes: int) -> str:
    """Bytes for people."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:.3g} {unit}"
    return f"{nbytes} B"
