"""Results as one self-contained HTML page: ranking, plots, and a table of all programs."""

from __future__ import annotations

import html
import math
import re

from benchmarks.plots import as_svg, draw_all
from benchmarks.results import Results, area_under_curve, ranking
from runmat_jit.core import wording

TITLES = {
    "ranking": "Ranking",
    "speed_up": "Speed-up over size",
    "first_calls": "First calls",
    "roofline": "Roofline",
    "regret": "Until it pays",
}
_STYLE = """
body{font:16px/1.5 system-ui,sans-serif;margin:1em auto;max-width:66em;padding:0 .8em;
color:#1b1f24;background:#fff;overflow-wrap:anywhere}
h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}.soft{color:#59636e}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}
td,th{padding:.25em .7em;border-bottom:1px solid #d1d9e0;text-align:right;white-space:nowrap}
td:first-child,th:first-child{text-align:left}
svg{max-width:100%;height:auto}.best{background:#d2f2d8}
@media (max-width:600px){.wide svg{max-width:none;width:44em}}
"""


def page_of(results: Results) -> str:
    """Return the page."""
    machine = ", ".join(f"{value}" for value in results.machine.values() if value not in ("", None))
    head = (
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width,initial-scale=1">'
        f"<title>runmat_jit: benchmarks</title><style>{_STYLE}</style>"
        f"<h1>Benchmarks of runmat_jit</h1><p class=soft>{html.escape(machine)}</p>"
    )
    parts = [head, _ranking(results)]
    for name, figure in draw_all(results).items():
        svg = _distinct_ids(as_svg(figure), name)
        parts.append(f"<h2>{TITLES[name]}</h2><div class=wide>{svg}</div>")
    parts += [_table(results), _details(results), _peers(results), "</html>\n"]
    return "".join(parts)


def _ranking(results: Results) -> str:
    rows = "".join(
        f"<tr><td>{rank.peer}</td><td>{rank.speed_up:.2f}x</td><td>{rank.least:.2f}x</td>"
        f"<td>{rank.first} of {rank.programs}</td></tr>"
        for rank in ranking(results)
    )
    return (
        "<p>Times are medians of interleaved rounds, one process a peer; results were compared "
        "with double precision first. Speed-ups are NumPy's time divided by the peer's, at the "
        "largest size of each program.</p><div class=wide><table><tr><th>peer</th>"
        "<th>geometric mean</th><th>least</th><th>fastest in</th></tr>"
        f"{rows}</table></div>"
    )


def _table(results: Results) -> str:
    peers = results.peers
    head = "".join(f"<th>{peer}</th>" for peer in peers)
    rows = []
    for program in results.programs:
        for size, found in results.of(program).items():
            best = min(each.seconds for each in found.values())
            cells = []
            for peer in peers:
                each = found.get(peer)
                mark = " class=best" if each is not None and each.seconds == best else ""
                cells.append(f"<td{mark}>{'' if each is None else duration(each.seconds)}</td>")
            rows.append(f"<tr><td>{program} [{size:,}]</td>{''.join(cells)}</tr>")
        areas = [area_under_curve(results, program, peer) for peer in peers]
        if len(results.of(program)) > 1:
            shown = "".join(f"<td>{'' if math.isnan(a) else f'{a:.2f}x'}</td>" for a in areas)
            rows.append(f"<tr class=soft><td>area under the curve</td>{shown}</tr>")
    return (
        f"<h2>All programs</h2><div class=wide><table><tr><th>program [size]</th>{head}</tr>"
        f"{''.join(rows)}</table></div>"
    )


def _details(results: Results) -> str:
    """Return what stands beside the medians, at the largest size of each program."""
    heads = ("program", "peer", "spread", "first call", "cached", "peak memory", "a warm call")
    rows = []
    for program in results.programs:
        for peer, each in results.largest(program).items():
            first = ["" if s is None else duration(s) for s in (each.first_cold, each.first_cached)]
            does = ", ".join(f"{name} {number:g}" for name, number in each.counts.items() if number)
            memory = wording.size(each.peak_bytes) if each.peak_bytes else ""
            cells = (program, peer, f"{each.spread:.0%}", *first, memory, does)
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        "<h2>Beside the median</h2><p>Spread: the distance between the quartiles as a share of the "
        "median. First calls: in fresh processes, with an empty cache and with a filled one.</p>"
        f"<div class=wide><table><tr>{head}</tr>{body}</table></div>"
    )


def _peers(results: Results) -> str:
    versions: dict[str, str] = {}
    for result in results.results:
        shown = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        threads = result.threads or "its own choice of"
        versions[result.peer] = f"{shown}; {threads} threads"
    items = [f"{peer}: {text}" for peer, text in versions.items()]
    items += [f"missing: {name} ({why})" for name, why in results.missing.items()]
    listed = "".join(f"<li>{html.escape(item)}</li>" for item in items)
    return f"<h2>Peers</h2><ul>{listed}</ul>"


def duration(seconds: float) -> str:
    """Return a time for people."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{1e9 * seconds:.3g} ns"


def _distinct_ids(svg: str, name: str) -> str:
    """Return a plot whose ids are not those of another one of the page."""
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', svg)
    return re.sub(r"url\(#", f"url(#{name}-", svg)
