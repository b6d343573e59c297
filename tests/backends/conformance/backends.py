"""Every backend behind one value: what it runs, and what it says that it does not.

A new backend adds a function here and its variants to the families of ``conftest.py``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from itertools import pairwise

import pytest

from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.probe import findings_of
from runmat_jit.backends.wgpu.run import WgpuRunner
from runmat_jit.backends.wgpu.schedule import Schedule
from runmat_jit.kernel.interpret import interpret
from runmat_jit.kernel.text import to_text
from runmat_jit.runtime.session import current_session
from tests.backends.conformance.compare import check
from tests.backends.llvm.native import Native, without_avx512
from tests.backends.wgpu.shaders import device, run


def nothing(_kernel):
    """Refuses no kernel."""


@dataclass(frozen=True)
class Backend:
    """A backend with one schedule.

    ``prepare`` makes of a kernel a function of arguments and a part of the parallel axis, which
    runs that part in place and tells whether an event was noted. ``refusal`` is why a kernel is not
    to run there, from what the backend knows of its device.
    """

    prepare: Callable
    refusal: Callable = nothing
    emulated_fma: frozenset = frozenset()
    """Float types whose fused operation is made of others."""
    whole_bytes: bool = True
    """Whether a bool is any byte that is not zero."""
    quick: bool = True
    """Whether a launch costs so little that tests can try every length."""

    def compile(self, kernel):
        """The function that runs a kernel; skips, with the backend's own words, if it refuses."""
        reason = self.refusal(kernel)
        if reason is not None:
            pytest.skip(reason)
        return self.prepare(kernel)

    def check(self, kernel, arguments, lo, hi):
        """A part of a kernel has the memory and events of the interpreter."""
        return check(kernel, self.compile(kernel), arguments, lo, hi)


# -- the interpreter -----------------------------------------------------------------------------
def interpreter():
    """The oracle itself, one piece of the parallel axis after another: pieces are independent."""
    return Backend(lambda kernel: partial(_in_pieces, kernel), whole_bytes=False, quick=False)


def _in_pieces(kernel, arguments, lo, hi):
    cuts = sorted({lo, min(lo + 1, hi), (lo + hi) // 2, hi}) if lo < hi else [lo, hi]
    events = [interpret(kernel, arguments, piece) for piece in pairwise(cuts)]
    return any(events)


# -- native code ---------------------------------------------------------------------------------
def llvm(width=None, unroll=None, *, narrow=False):
    """Native code of this machine, or of one without 512-bit vectors."""

    @lru_cache(maxsize=4)  # a test runs the same kernel many times
    def prepare(kernel):
        return Native(kernel, width, unroll, without_avx512() if narrow else None)

    return Backend(prepare)


# -- shaders -------------------------------------------------------------------------------------
def wgpu(schedule=None):
    """Shaders on the adapter at hand, with the arithmetic that gives the bits of the CPU there."""
    using = _runner()
    return Backend(
        lambda kernel: lambda arguments, lo, hi: run(kernel, arguments, (lo, hi), schedule, using),
        using.backend.unsupported,
        using.backend.arithmetic.emulate_fma,
        quick=False,
    )


def wgpu_of_some_width():
    """The same, with one, two or four lanes a thread: a kernel decides, by its text."""
    widths = [wgpu(Schedule(lanes, 64, 64)) for lanes in (1, 2, 4)]
    return replace(
        widths[0], prepare=lambda kernel: widths[len(to_text(kernel)) % 3].prepare(kernel)
    )


@cache
def _runner():
    session = current_session()
    findings = findings_of(device().info, session.findings_directory(), session.log)
    arithmetic = findings.arithmetic(reproducible=True)
    refuse = partial(findings.refusal, reproducible=True)
    return WgpuRunner(WgpuBackend(device(), arithmetic, refuse=refuse))
