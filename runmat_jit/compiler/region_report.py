"""Regions of compiled programs as explanations report them."""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING

from runmat_jit.core.frozen import frozen, immutable
from runmat_jit.core.reasons import Reason

if TYPE_CHECKING:
    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.graph.node import Node
    from runmat_jit.passes.fusion.region import Region


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


@frozen
class Behind:
    """The compiled code that a page is made from; it is not part of an explanation's value."""

    code: CodeType | None = None
    programs: tuple[CompiledGraph, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Behind)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Behind()"

    def __reduce__(self) -> tuple[type[Behind], tuple[()]]:
        return Behind, ()


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
    """True if the kernel of a region runs in bands, together with those of the one before."""
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
    """True if an operation has more to do than to read one element or compute one number."""
    return node.type.size > 1 or (node.op.kind == "reduce" and node.args[0].type.size > 1)


def reports_of(programs: Sequence[CompiledGraph]) -> list[RegionReport]:
    """The regions of every program of a recording."""
    return [report for program in programs for report in region_reports(program)]
