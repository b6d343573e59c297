"""An explanation as HTML: the source by what became of each line, regions, graph, times, reasons.

The page is self-contained: no scripts, no fonts, nothing is loaded.
"""

from __future__ import annotations

import ast
import html
import inspect
import linecache
import math
import re
import textwrap
import types
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from runmat_jit.compiler.placement import price_of_launches, profile_of
from runmat_jit.compiler.region_report import Behind, RegionReport
from runmat_jit.core.frozen import frozen, frozen_object
from runmat_jit.core.reasons import CAUSES, Reason
from runmat_jit.core.wording import count, listed, size
from runmat_jit.kernel.text import to_text
from runmat_jit.ops.product import product_in
from runmat_jit.plan.price import HostTask, price, shown
from runmat_jit.runtime.session import current_session

if TYPE_CHECKING:
    from runmat_jit.compiler.compile_graph import CompiledGraph
    from runmat_jit.lower.launch import Launch
    from runmat_jit.passes.fusion.region import Region
    from runmat_jit.plan.place import Decision

SHOWN: Final = 40
"""Regions that the graph and the times show; the table has all."""
_PLACE: Final = re.compile(r"^(?P<file>.+):(?P<line>\d+)(?: in (?P<function>.+))?$")
_LOOP: Final = re.compile(r"^line (?P<line>\d+): (?P<what>.*)$", re.DOTALL)
_CALL: Final = re.compile(r"^(?P<name>.*) \((?P<place>.+:\d+.*)\)$")
STATES: Final = {
    "kernel": "fused into a kernel",
    "loop": "a native loop",
    "numpy": "computed by NumPy",
    "python": "run by Python",
}
"""Classes of lines, and what they mean. A line of several has the last one."""

_STYLE: Final = """
.rm{--ink:#1b1f24;--soft:#59636e;--line:#d1d9e0;--paper:#fff;--kernel:#d2f2d8;--loop:#d6e8ff;
--numpy:#fff0c2;--python:#ffdcd7;--bar:#2f81f7;--done:#3fb950;
font:15px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:70em;
overflow-wrap:anywhere}
@media (prefers-color-scheme:dark){.rm{--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;--paper:#0d1117;
--kernel:#12351d;--loop:#10294a;--numpy:#3d2f07;--python:#4a1512}}
.rm h1{font-size:1.35em;margin:.2em 0}.rm h2{font-size:1.05em;margin:1.6em 0 .4em}
.rm p{margin:.3em 0}.rm .soft{color:var(--soft)}
.rm .key span{display:inline-block;padding:0 .6em;margin:0 .5em .3em 0;border-radius:.3em}
.rm .code{border:1px solid var(--line);border-radius:.4em;overflow-x:auto;font:13px/1.5 monospace}
.rm .row{display:flex;white-space:pre;position:relative;min-width:max-content}
.rm .row:focus{outline:2px solid var(--bar)}
.rm .row>i{color:var(--soft);width:3.6em;flex:none;text-align:right;padding-right:1em;
font-style:normal}.rm .row>b{font-weight:400;padding-right:2em}
.rm .row>em{font-style:normal;color:var(--soft);padding-right:1em}
.rm .tip{display:none;position:absolute;left:4em;top:1.6em;z-index:2;background:var(--paper);
border:1px solid var(--line);border-radius:.4em;padding:.5em .8em;max-width:44em;
white-space:pre-wrap;box-shadow:0 3px 12px #0004}
.rm .row:hover .tip,.rm .row:focus .tip{display:block}
.rm .kernel{background:var(--kernel)}.rm .loop{background:var(--loop)}
.rm .numpy{background:var(--numpy)}.rm .python{background:var(--python)}
.rm .wide{overflow-x:auto}.rm table{border-collapse:collapse}
.rm td,.rm th{overflow-wrap:normal}
.rm td,.rm th{text-align:left;padding:.25em .7em;border-bottom:1px solid var(--line);
vertical-align:top}.rm pre{font:12px/1.4 monospace;overflow-x:auto;margin:.3em 0}
.rm svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.rm svg circle{fill:var(--bar)}
.rm svg path{fill:none;stroke:var(--bar);stroke-opacity:.6}
.rm summary{cursor:pointer}
@media (max-width:600px){.rm{font-size:14px}.rm .tip{left:0;max-width:90vw}}
"""


class Explained(Protocol):
    """The parts of an ``Explanation`` that a page shows."""

    @property
    def function(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def regions(self) -> tuple[RegionReport, ...]: ...
    @property
    def reasons(self) -> tuple[Reason, ...]: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def host_calls(self) -> tuple[str, ...]: ...
    @property
    def loops(self) -> tuple[str, ...]: ...
    @property
    def placements(self) -> tuple[Decision, ...]: ...
    @property
    def behind(self) -> Behind: ...
    @property
    def devices(self) -> list[str]: ...
    def distinct(self) -> list[tuple[list[int], RegionReport]]: ...


@frozen_object
class PageRegion:
    """A region of the page: its number, report, kernels, predicted microseconds and operands."""

    number: int
    report: RegionReport
    launches: Sequence[Launch]
    us: float
    reads: tuple[int, ...]


@frozen
class LineMark:
    """One fact about a line: a class of `STATES`, a short tag, and the text of its tooltip."""

    state: str
    tag: str
    detail: str


def page_of(explanation: Explained) -> str:
    """Return a whole page."""
    title = html.escape(f"{explanation.function}: {explanation.mode}")
    return (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>{title}</title><style>html{{color-scheme:light dark}}body{{margin:1em}}"
        "@media (prefers-color-scheme:dark){body{background:#0d1117}}</style>"
        f"{fragment_of(explanation)}</html>\n"
    )


def fragment_of(explanation: Explained) -> str:
    """Return the part of a page that notebooks show."""
    regions = list(_page_regions(explanation))
    return "".join(
        [
            f"<div class=rm><style>{_STYLE}</style>",
            _head(explanation),
            _source(explanation, regions),
            _table(explanation, regions),
            _graph(regions),
            _times(explanation, regions),
            _notes(explanation),
            "</div>",
        ]
    )


# -- regions ---------------------------------------------------------------------------------------
def _page_regions(explanation: Explained) -> Iterator[PageRegion]:
    """Yield the regions with what the compiler knows of them."""
    reports, number = iter(explanation.regions), 0
    for compiled in explanation.behind.programs:
        regions = compiled.plan.regions
        groups = compiled.lowered.launches or ((),) * len(regions)
        made = {node: number + at for at, r in enumerate(regions, 1) for node in r.outputs}
        for region, launches in zip(regions, groups, strict=True):
            number += 1
            reads = {made[node] for node in region.inputs if made.get(node, number) < number}
            us = _predicted_us(compiled, region, launches)
            yield PageRegion(number, next(reports), launches, us, tuple(sorted(reads)))


def _predicted_us(compiled: CompiledGraph, region: Region, launches: Sequence[Launch]) -> float:
    """Return the predicted time of a region in microseconds, without that of calling it."""
    session = current_session()
    if not region.is_host:
        return price_of_launches(profile_of(session, compiled), launches).kernels_us
    node = region.nodes[0]
    nbytes = sum(int(each.type.nbytes) for each in (node, *node.args))
    flops = 0.0
    if product_in(node.params) is not None:
        flops = 2.0 * math.prod(node.type.shape) * node.args[0].type.shape[-1]
    task = HostTask(nbytes, flops, double=node.type.dtype.itemsize > 4)
    return price((), session.profile, calls=(task,)).host_us


# -- parts of the page -----------------------------------------------------------------------------
def _head(explanation: Explained) -> str:
    kernels = sum(region.kernels for region in explanation.regions)
    devices = ", ".join(dict.fromkeys(explanation.devices)) or "no device"
    totals = f"{count(len(explanation.regions), 'region')}, {count(kernels, 'kernel')} on {devices}"
    keys = "".join(f"<span class={name}>{what}</span>" for name, what in STATES.items())
    return (
        f"<h1>{html.escape(explanation.function)}</h1>"
        f"<p>{html.escape(explanation.mode)}; {totals}</p><p class=key>{keys}</p>"
    )


def _source(explanation: Explained, regions: Sequence[PageRegion]) -> str:
    """Return the function's source, and the lines of other functions that it calls."""
    marks: dict[tuple[str, int], list[LineMark]] = {}
    for place, mark in _marks(explanation, regions):
        marks.setdefault(place, []).append(mark)
    code = explanation.behind.code
    lines, first, path = _lines_of(code)
    file = Path(path).name
    own = {(file, number) for number in range(first, first + len(lines))}
    for (begin, end), mark in _loops(explanation, lines, first):
        for number in range(begin, end + 1):
            marks.setdefault((file, number), []).append(mark)
    rows = [_row(n, text, marks.get((file, n), ())) for n, text in enumerate(lines, first)]
    found = f"<h2>{html.escape(path)}</h2><div class=code>{''.join(rows)}</div>" if rows else ""
    others = sorted(place for place in marks if place not in own)
    if not others:
        return found
    rows = [
        _row(line, f"{name}: {_text_at(path, name, line)}", marks[name, line])
        for name, line in others
    ]
    return f"{found}<h2>lines of other functions</h2><div class=code>{''.join(rows)}</div>"


def _text_at(path: str, name: str, line: int) -> str:
    """Return a line of a file beside the function's own, if it is there."""
    return linecache.getline(str(Path(path).with_name(name)), line).strip() if path else ""


def _lines_of(code: types.CodeType | None) -> tuple[list[str], int, str]:
    """Return the lines of a function, the number of the first one, and the file."""
    if code is None:
        return [], 1, ""
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError, SyntaxError):
        return [], 1, code.co_filename
    return textwrap.dedent("".join(lines)).splitlines(), max(first, 1), code.co_filename


def _marks(
    explanation: Explained, regions: Sequence[PageRegion]
) -> Iterator[tuple[tuple[str, int], LineMark]]:
    """Yield what became of lines, without those of loops."""
    for region in regions:
        report = region.report
        by = "NumPy" if report.by_host else count(report.kernels, "kernel")
        detail = (
            f"region {region.number}: {report.kind} on {report.device}, {by}\n"
            f"{textwrap.shorten(', '.join(report.operations), 300)}\n"
            f"reads {size(report.bytes_read)}, writes {size(report.bytes_written)}, "
            f"predicted {shown(region.us)}"
        )
        state = "numpy" if report.by_host else "kernel"
        mark = LineMark(state, f"{region.number} {report.kind}", detail)
        yield from ((place, mark) for place in _places(report.lines))
    for call in explanation.host_calls:
        if (found := _CALL.match(call)) is not None:
            mark = LineMark("numpy", found["name"], f"NumPy computes {found['name']}")
            yield from ((place, mark) for place in _places([found["place"]]))
    for reason in explanation.reasons:
        mark = LineMark("python", reason.id, f"{reason.id}: {reason.detail}")
        yield from ((place, mark) for place in _places([reason.line]))


def _places(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        if (found := _PLACE.match(line)) is not None:
            yield found["file"], int(found["line"])


def _loops(
    explanation: Explained, lines: Sequence[str], first: int
) -> Iterator[tuple[tuple[int, int], LineMark]]:
    """Yield the first and last line of each loop, and what became of it."""
    ends: dict[int, int] = {}
    try:
        tree: ast.AST | None = ast.parse("\n".join(lines))
    except SyntaxError:
        tree = None
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            ends[node.lineno + first - 1] = (node.end_lineno or node.lineno) + first - 1
    for loop in explanation.loops:
        found = _LOOP.match(loop)
        if found is None:
            continue
        begin, native = int(found["line"]), found["what"].startswith("natively")
        mark = LineMark("loop" if native else "python", "", f"loop of {loop}")
        yield (begin, ends.get(begin, begin) if native else begin), mark


def _row(number: int, text: str, marks: Sequence[LineMark]) -> str:
    """Return one line of source with its tooltip."""
    state = max((m.state for m in marks), key=list(STATES).index, default="")
    distinct = list(dict.fromkeys(marks))
    tags = list(dict.fromkeys(html.escape(mark.tag) for mark in distinct if mark.tag))
    more = f" +{len(tags) - 3}" if len(tags) > 3 else ""
    details = "\n\n".join(mark.detail for mark in distinct[:4])
    tip = f"<span class=tip>{html.escape(details)}</span>" if marks else ""
    focus = " tabindex=0" if marks else ""
    return (
        f'<div class="row {state}"{focus}><i>{number}</i><b>{html.escape(text) or " "}</b>'
        f"<em>{' · '.join(tags[:3])}{more}</em>{tip}</div>"
    )


def _table(explanation: Explained, regions: Sequence[PageRegion]) -> str:
    """Return the regions in the order in which they run, those that are alike once."""
    by_number = {each.number: each for each in regions}
    heads = ("", "kind", "device", "kernels", "reads", "writes", "predicted", "operations", "lines")
    rows = []
    for own, report in explanation.distinct():
        known = by_number.get(own[0])
        by = "NumPy" if report.by_host else str(report.kernels)
        us = "" if known is None else shown(known.us)
        cells = [listed(own), report.kind, report.device, by]
        cells += [size(report.bytes_read), size(report.bytes_written), us]
        reasons = "".join(f"<br>stops here: {html.escape(str(r))}" for r in report.reasons)
        kernels = "" if known is None else _kernels(known.launches)
        rows.append(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}"
            f"<td>{html.escape(', '.join(report.operations))}{reasons}{kernels}</td>"
            f"<td>{html.escape('; '.join(report.lines))}</td></tr>"
        )
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in heads)
    return f"<h2>regions</h2><div class=wide><table><tr>{head}</tr>{''.join(rows)}</table></div>"


def _kernels(launches: Sequence[Launch]) -> str:
    """Return the source of kernels, folded."""
    texts = [to_text(kernel) for kernel in dict.fromkeys(each.kernel for each in launches)]
    return "".join(
        f"<details><summary>kernel, {count(len(text.splitlines()), 'line')}</summary>"
        f"<pre>{html.escape(text)}</pre></details>"
        for text in texts
    )


def _graph(regions: Sequence[PageRegion]) -> str:
    """Return the regions as a list, with an arc from each to those that read its results."""
    some = regions[:SHOWN]
    if len(some) < 2:
        return ""
    height, left = 24, 44
    parts = []
    for each in some:
        y = height * each.number
        parts += [_arc(left, height * read, y) for read in each.reads if read > some[0].number - 1]
        label = f"{each.number}. {each.report.kind}: {', '.join(each.report.operations)}"
        text = html.escape(textwrap.shorten(label, 76))
        parts.append(f"<circle cx={left} cy={y} r=4 /><text x={left + 12} y={y + 4}>{text}</text>")
    more = len(regions) - len(some)
    note = f"<p class=soft>and {more} more</p>" if more else ""
    return (
        "<h2>graph</h2><p class=soft>an arc joins a region to one that reads its result</p>"
        "<div class=wide>"
        f"<svg width=640 height={height * (len(some) + 1)} role=img aria-label=graph>"
        f"{''.join(parts)}</svg></div>{note}"
    )


def _arc(x: int, start: int, end: int) -> str:
    bend = min(40, 8 + (end - start) // 3)
    return f'<path d="M{x} {start}C{x - bend} {start} {x - bend} {end} {x} {end}"/>'


def _times(explanation: Explained, regions: Sequence[PageRegion]) -> str:
    """Return a timeline of the predicted times, and what runs of the programs have taken."""
    some = regions[:SHOWN]
    total = sum(each.us for each in regions)
    if not some or not total:
        return ""
    width, height, begun, bars = 340, 30, 0.0, []
    for row, each in enumerate(some):
        x, w = width * begun / total, max(1.0, width * each.us / total)
        begun += each.us
        text = html.escape(f"{each.number}. {each.report.kind} {shown(each.us)}")
        bars.append(
            f"<text x=0 y={height * row + 14}>{text}</text>"
            f'<rect x={x:.1f} y={height * row + 19} width={w:.1f} height=7 fill="var(--bar)"/>'
        )
    taken = [each.measured.us for each in explanation.behind.programs]
    known = [us for us in taken if us is not None]
    of = f" in {len(known)} of {count(len(taken), 'program')}" if len(known) < len(taken) else ""
    measured = f"measured {shown(sum(known))}{of}" if known else "not measured"
    return (
        f"<h2>timeline</h2><p>predicted {shown(total)}, {measured}</p><div class=wide>"
        f"<svg width={width} height={height * len(some) + 6} role=img aria-label=timeline>"
        f"{''.join(bars)}</svg></div>"
    )


def _notes(explanation: Explained) -> str:
    """Return loops, calls of NumPy, placements, notes, and reasons with what to do about them."""
    computed = [f"NumPy computes {call}" for call in explanation.host_calls]
    loops = [f"loop of {loop}" for loop in explanation.loops]
    placed = [f"placed {each}" for each in explanation.placements if each.was_free]
    notes = "".join(
        f"<li>{html.escape(note)}</li>" for note in (*computed, *loops, *placed, *explanation.notes)
    )
    ended = [reason for region in explanation.regions for reason in region.reasons]
    reasons = "".join(map(_reason, dict.fromkeys(explanation.reasons)))
    causes = "".join(map(_cause, dict.fromkeys(each.id for each in (*explanation.reasons, *ended))))
    return (
        (f"<h2>notes</h2><ul>{notes}</ul>" if notes else "")
        + (f"<h2>not captured or not repeated</h2><ul>{reasons}</ul>" if reasons else "")
        + (f"<h2>reasons</h2>{causes}" if causes else "")
    )


def _reason(reason: Reason) -> str:
    text = html.escape(str(reason)).removeprefix(reason.id)
    return f'<li><a href="#{reason.id}">{reason.id}</a>{text}</li>'


def _cause(name: str) -> str:
    cause = CAUSES[name]
    return (
        f"<details id={name}><summary>{name}: {html.escape(cause.cause)}</summary>"
        f"<p>{html.escape(cause.hint)}</p><p class=soft>{html.escape(cause.page)}</p></details>"
    )
