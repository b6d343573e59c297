"""How much of the programs is compiled: measured, and as the committed page says.

``python -m tests.parity.coverage`` writes the page; ``--raise-floor`` also raises its floor to
what is measured. Nothing lowers it but an edit of the page.
"""

import functools
import math
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

import runmat_jit as runmat
from runmat_jit.api import JitFunction, native_loops
from runmat_jit.capture.known import trees_of
from runmat_jit.capture.replay.steps import BatchStep, CallStep, FreeStep, RaiseStep, SingleStep
from runmat_jit.capture.replay.tree import Fork
from runmat_jit.capture.tape.entries import Call, Operation, Single, View
from runmat_jit.loops.program import LoopCall
from tests.parity.parity import Configuration, check, fresh_arguments, seen_of
from tests.parity.program import programs

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
COMMAND = "python -m tests.parity.coverage"
NONE = "-"

HOST_CALLS = frozenset(
    (
        *("sort", "argsort", "lexsort", "partition", "argpartition", "sort_complex"),
        *("searchsorted", "unique", "intersect1d", "union1d", "setdiff1d", "setxor1d", "isin"),
        *("unique_counts", "unique_values", "unique_inverse", "unique_all"),
        *("solve", "inv", "pinv", "det", "slogdet", "eig", "eigh", "eigvals", "eigvalsh", "svd"),
        *("svdvals", "qr", "cholesky", "lstsq", "matrix_rank", "matrix_power", "cond", "norm"),
        *("matmul", "dot", "vdot", "inner", "tensordot", "einsum", "kron", "multi_dot", "vecdot"),
        *("tensorsolve", "tensorinv", "matvec", "vecmat", "einsum_path", "matrix_norm", "expm"),
        *("fft", "ifft", "rfft", "irfft", "fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn"),
        *("rfftn", "irfftn", "hfft", "ihfft"),
        *("poly", "polyval", "polyfit", "polyadd", "polysub", "polymul", "polydiv", "polyder"),
        *("polyint", "roots", "convolve", "correlate", "interp", "chebval", "legval", "hermval"),
        "leggauss",
        *("histogram", "histogram2d", "histogramdd", "histogram_bin_edges", "bincount", "digitize"),
        *("loadtxt", "genfromtxt", "fromstring", "frombuffer", "array2string", "array_repr"),
        *("array_str", "base_repr", "binary_repr", "format_float_positional", "tobytes", "tolist"),
    )
)
"""What stays with NumPy and its libraries by design; other calls that NumPy computes count."""

VIEWS = frozenset(
    (
        *("transpose", "moveaxis", "swapaxes", "rollaxis", "reshape", "ravel", "squeeze", "view"),
        *(
            "expand_dims",
            "diagonal",
            "broadcast_to",
            "broadcast_arrays",
            "flip",
            "fliplr",
            "flipud",
        ),
        *("rot90", "split", "array_split", "hsplit", "vsplit", "dsplit", "real", "imag", "item"),
        *("as_strided", "shares_memory", "may_share_memory"),
        *("sliding_window_view", "ix_", "atleast_1d", "atleast_2d", "atleast_3d"),
    )
)
"""Calls that compute no elements."""


class Work(NamedTuple):
    """What the replay of one call does: counts, which no clock and no load of a machine changes."""

    kernels: int = 0
    calls: int = 0
    """Of NumPy and Python, be they steps or nodes of a graph."""
    steps: int = 0
    """All of them, checks of guards and the like included, but for those that forget values: when a
    recording learns that nobody holds one depends on Python's collector."""

    @property
    def done(self):
        return self.kernels + self.calls


NO_WORK = Work()


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a warm call of one program does."""

    mode: str
    """``replayed``: no Python runs; ``recorded``: it runs at every call; ``plain``; ``differs``."""
    compiled: int
    """Array operations in kernels: those that make more than one number, or one of many.

    A turn of a loop over arrays that runs natively counts as one.
    """
    by_numpy: tuple
    """Names of the array operations that NumPy computes, each once a line."""
    reasons: tuple
    """Ids of the reasons why it is no more; or the sentence of the known difference."""
    work: Work = NO_WORK
    """What the replay of a warm call does."""
    plain: int = 0
    """Operations of plain Python in its place: of arrays and of numbers, views among them."""

    def row(self):
        """The columns of the page."""
        numpy_names = ", ".join(f"`{name}`" for name in sorted(set(self.by_numpy)))
        counts = (*self.work, self.plain) if self.mode == "replayed" else 4 * (NONE,)
        return self.mode, *counts, numpy_names or NONE, ", ".join(self.reasons) or NONE


def measure(program, jit=runmat.jit):
    """Check a program on its first configuration, then look at warm calls."""
    return measure_and_keep(program, jit)[0]


def measure_and_keep(program, jit=runmat.jit):
    """The coverage, and the decorated function (None for a known difference)."""
    if program.differs:
        return Coverage("differs", 0, (), (program.differs,)), None
    configuration = Configuration(program.shapes[0], program.dtypes[0])
    loops = native_loops()
    if loops is not None:
        loops.forget()  # what other tests have taught
    decorated = check(program, configuration, jit=jit)
    return coverage_of(program, configuration, decorated), decorated


def coverage_of(program, configuration, decorated):
    """What warm calls of a decorated function do that has seen the data before.

    Python replays them: what goes through a gate does the same, but leaves no trace of the way that
    it took through the tree.
    """
    if isinstance(decorated, JitFunction):
        decorated._captured[1].gatekeeper.close()
    before = runmat.telemetry.snapshot()
    for seed in (0, 1):
        seen_of(decorated, *fresh_arguments(program, configuration, seed))
    after = runmat.telemetry.snapshot()
    calls = {name: after[name] - before[name] for name in after if name.startswith("calls_")}
    mode = "replayed" if calls["calls_replayed"] == 2 else "recorded"
    mode = "plain" if calls["calls_plain"] else mode
    if not isinstance(decorated, JitFunction):
        return Coverage(mode, 0, (), ())
    args, kwargs = fresh_arguments(program, configuration, 0)
    explanation = decorated.explain(*args, **kwargs)
    compiled = sum(region.on_arrays for region in explanation.regions)
    calls = [call.partition(" (")[0] for call in explanation.host_calls]
    nodes = [region.operations for region in explanation.regions if region.kind == "host"]
    calls += [name.partition("(")[0] for names in nodes for name in names]
    by_numpy = tuple(name for name in calls if name not in HOST_CALLS | VIEWS)
    reasons = tuple(sorted({reason.id for reason in explanation.reasons}))
    if mode != "replayed":
        return Coverage(mode, compiled, by_numpy, reasons)
    launches = (after["kernel_launches"] - before["kernel_launches"]) // 2
    work, operations = work_of(decorated)
    compiled += sum(call.turns for call in native_loops_of(decorated) if call.has_arrays)
    return Coverage(mode, compiled, by_numpy, reasons, work._replace(kernels=launches), operations)


def work_of(decorated):
    """What the last replay did beside its kernels, and plain Python's operations in its place."""
    made = steps = 0
    operations = sum(call.turns * call.per_turn - 1 for call in native_loops_of(decorated))
    for segment in last_replay_of(decorated):
        made += sum(map(calls_in, segment.steps))
        every = (*segment.early, *segment.steps)
        steps += sum(not isinstance(step, FreeStep) for step in every)
        operations += sum(isinstance(e, Operation | Call | Single | View) for e in segment.log)
    return Work(calls=made, steps=steps), operations


def last_replay_of(decorated):
    """The segments of the last replay, in their order."""
    trees = trees_of(decorated._captured[1])
    fork = max((root for root in trees if root.outcomes), key=last_use)
    while isinstance(fork, Fork):
        known = [segment for segments in fork.outcomes.values() for segment in segments]
        segment = max(known, key=lambda each: each.used)
        yield segment
        fork = segment.exit


def native_loops_of(decorated):
    """The loops that the last replay ran natively, each as often as it did."""
    steps = [step for segment in last_replay_of(decorated) for step in segment.steps]
    calls = [step.fn for step in steps if isinstance(step, CallStep)]
    return [call for call in calls if isinstance(call, LoopCall)]


def calls_in(step):
    """The calls that a step makes."""
    if isinstance(step, BatchStep):
        return sum(region.kind == "host" for region in step.program.plan.regions)
    return isinstance(step, CallStep | SingleStep | RaiseStep)


def last_use(root):
    """The number of the last call that a tree has replayed."""
    return max(root.last_use(outcome) for outcome in root.outcomes)


@functools.cache
def measured(name):
    """The coverage of a program by name, measured once in a run, and the decorated function."""
    return measure_and_keep(programs()[name])


def ratio(coverages):
    """Percent of array operations that are in kernels."""
    compiled = sum(coverage.compiled for coverage in coverages)
    by_numpy = sum(len(coverage.by_numpy) for coverage in coverages)
    return 100 * compiled / max(1, compiled + by_numpy)


def work(coverages):
    """Kernels and calls of all warm calls, and the operations of plain Python in their place."""
    return sum(c.work.done for c in coverages), sum(c.plain for c in coverages)


# -- the page --------------------------------------------------------------------------------------
TEXT = """<!-- Written by {command}. Do not edit, but for the floor. -->

# Coverage

The programs under `tests/parity/programs/` are small, plain NumPy functions. Each is run decorated
and undecorated, on several data sets, shapes, dtypes and memory layouts, and everything that a
caller can see must be the same.

At least {operations} % of their array operations are in compiled kernels. A turn of a loop over
arrays that runs natively counts as one of them, whatever it does.

Sorting, searching, sets, linear algebra, transforms, polynomials, histograms and text are calls of
NumPy by design and count as neither; nor do operations on single numbers, such as `x[i] * 2`, and
reads and writes of one element, whoever does them.

What a warm call costs is counted, not timed: kernels launched, calls made and steps of the replay,
against the operations that plain Python does in their place; a loop that runs natively is one call.
All programs together: {warm} kernels and calls against {plain} operations. No count may become
larger unnoticed. They hold for {versions}.
`pytest benchmarks/test_warm_calls.py --benchmark-only` takes the time of the same programs.

| program | warm calls | kernels | calls | steps | plain | computed by NumPy | reasons |
| --- | --- | --- | --- | --- | --- | --- | --- |
"""
FLOOR = re.compile(r"At least (\d+) %")
ROW = re.compile(
    r"^\| `([\w.]+)` \| (\w+) \| (\S+) \| (\S+) \| (\S+) \| \S+ \| (.*) \| (.*) \|$", re.MULTILINE
)


def versions():
    """On what the counts depend beside our own code."""
    numpy_version = ".".join(np.__version__.split(".")[:2])
    return f"Python {sys.version_info.major}.{sys.version_info.minor} and NumPy {numpy_version}"


def render(coverages, floor):
    """The page for coverages by name."""
    rows = (
        f"| `{name}` | {' | '.join(map(str, coverage.row()))} |\n"
        for name, coverage in sorted(coverages.items())
    )
    warm, plain = work(coverages.values())
    head = TEXT.format(
        command=f"`{COMMAND}`",
        operations=floor,
        warm=warm,
        plain=plain,
        versions=versions(),
    )
    return head + "".join(rows)


def floor_of(page):
    """Percent of operations that are in kernels at least."""
    (found,) = FLOOR.findall(page)
    return int(found)


class Row(NamedTuple):
    """What the page says of a program."""

    mode: str
    work: Work | None
    """None where it is not replayed."""
    by_numpy: frozenset[str]


def rows_of(page):
    """The rows of the page by program; without counts where they are those of other versions."""
    counted = f"hold for {versions()}." in " ".join(page.split())
    return {
        name: Row(
            mode,
            Work(*map(int, counts)) if counted and NONE not in counts else None,
            frozenset(re.findall(r"`([^`]+)`", numpy_names)),
        )
        for name, mode, *counts, numpy_names, _ in ROW.findall(page)
    }


def worse(coverage, row):
    """What a program has lost against its row of the page (None: it has none, it is whole)."""
    mode, work, numpy_names = row or ("replayed", None, set())
    if mode == "replayed" != coverage.mode:
        return f"its Python runs again when warm: {', '.join(coverage.reasons)}"
    if mode == "recorded" and coverage.mode == "plain":
        return f"it is not recorded any more: {', '.join(coverage.reasons)}"
    more = set(coverage.by_numpy) - numpy_names
    if more:
        return f"NumPy computes {', '.join(sorted(more))}"
    if work is not None and any(map(int.__gt__, coverage.work, work)):
        return f"a warm call does more: {coverage.work}, not {work}"
    return ""


def main(arguments):
    warnings.simplefilter("default")
    runmat.config(compile="first call", trials=False, device="cpu", num_threads=2)
    found = {name: measured(name)[0] for name in programs()}
    reached = ratio(found.values())
    floor = floor_of(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else 0
    if "--raise-floor" in arguments:
        floor = max(floor, math.floor(reached))
    PAGE.write_text(render(found, floor), encoding="utf-8")
    sys.stdout.write(f"{reached:.1f} % compiled\n")


if __name__ == "__main__":
    main(sys.argv[1:])
