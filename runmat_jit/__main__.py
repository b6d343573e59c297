"""The command line: ``python -m runmat_jit COMMAND``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

PICTURE = Path("demo_output", "demo.png")


def main(arguments: list[str] | None = None) -> int:
    """Run one subcommand; the exit status is 0 unless results differ from NumPy's."""
    chosen = _parser().parse_args(arguments)
    if chosen.command == "demo":
        from runmat_jit.demo import run_demo  # noqa: PLC0415 - `info` has no use for it

        return 0 if run_demo(chosen.output, quick=chosen.quick) else 1
    if chosen.command == "explain":
        from runmat_jit.explain_file import explain_file  # noqa: PLC0415 - likewise

        return explain_file(chosen.target, chosen.arguments, as_json=chosen.json)
    if chosen.command == "profile":
        from runmat_jit.profile_script import profile_script  # noqa: PLC0415 - likewise

        return profile_script(chosen.script, chosen.arguments, as_json=chosen.json)
    if chosen.command == "bench":
        from runmat_jit.bench import bench  # noqa: PLC0415 - likewise

        return bench(chosen)
    if chosen.command == "cache":
        from runmat_jit.cache_command import cache_command  # noqa: PLC0415 - likewise

        return cache_command(chosen.action, as_json=chosen.json, keep_bytes=chosen.keep << 20)
    if chosen.command == "calibrate":
        from runmat_jit.calibrate import calibrate  # noqa: PLC0415 - likewise

        return calibrate(as_json=chosen.json)
    from runmat_jit.info import describe  # noqa: PLC0415 - `demo` has no use for it

    sys.stdout.write(describe() + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runmat_jit", description="A tracing JIT compiler for plain NumPy code."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="four NumPy programs, timed with and without the JIT")
    demo.add_argument("--output", type=Path, default=PICTURE, help="the picture (%(default)s)")
    demo.add_argument("--quick", action="store_true", help="small arrays, a few seconds")
    explain = commands.add_parser(
        "explain", help="run a program, and tell what happened with the calls of a function of it"
    )
    explain.add_argument("target", metavar="FILE:function", help="a method as Class.method")
    explain.add_argument("--json", action="store_true", help="print the explanations as JSON")
    explain.add_argument("arguments", nargs="*", help="of the program")
    profile = commands.add_parser(
        "profile", help="run a script plain and decorated: which functions gain, and how much"
    )
    profile.add_argument("--json", action="store_true", help="print the findings as JSON")
    profile.add_argument("script", help="it runs four times; what it prints is not shown")
    profile.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    _add_bench(commands.add_parser("bench", help="measure a checkout's programs against peers"))
    commands.add_parser("info", help="versions, machine, options and counters, for bug reports")
    cache = commands.add_parser("cache", help="what is kept between processes, and how much")
    cache.add_argument("action", choices=("info", "clear", "prune"))
    cache.add_argument("--json", action="store_true", help="print it as JSON")
    cache.add_argument(
        "--keep", type=int, default=64, metavar="MB", help="what prune leaves (%(default)s MB)"
    )
    calibrate = commands.add_parser(
        "calibrate", help="measure what the devices of this machine can do, and keep it"
    )
    calibrate.add_argument("--json", action="store_true", help="print the profiles as JSON")
    return parser


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", nargs="*", help="report FILE: plots and a page of its figures")
    parser.add_argument("--only", default="six,named", help="groups and programs (%(default)s)")
    parser.add_argument("--peers", default="numpy,runmat", help="with commas (%(default)s)")
    parser.add_argument(
        "--sizes", default="usual", help="usual, small, all of a plot, or numbers with commas"
    )
    parser.add_argument("--rounds", type=int, default=9, help="of each program (%(default)s)")
    parser.add_argument(
        "--keep", action="store_true", help="one process a peer for all programs; no first calls"
    )
    parser.add_argument(
        "--regret", type=int, default=0, metavar="CALLS", help="compare first calls with plain ones"
    )
    parser.add_argument("--json", type=Path, help="file that gets all figures")
    parser.add_argument(
        "--output", type=Path, default=Path("bench_report"), help="directory of a report"
    )


if __name__ == "__main__":
    sys.exit(main())
