"""How long a program takes on a device, by its profile: of kernels, of calls, of transfers.

A price is a prediction in microseconds. It follows from what was lowered (bytes, instructions,
launches), never from the names of operations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runmat_jit.core.frozen import frozen
from runmat_jit.plan.profile import Profile

CALL_US: Final = 1.0
"""Of a call of a program or of NumPy, whatever it computes: guards, new memory, results."""


@frozen
class Task:
    """One launch: iterations of its top block, bytes that it moves, and what one computes.

    ``iteration_us`` is that of one thread of the device for which it was lowered.
    """

    total: int
    nbytes: int
    iteration_us: float


@frozen
class HostTask:
    """A call of the host: what it reads and writes; ``flops`` where it is a product of matrices."""

    nbytes: int
    flops: float = 0.0
    double: bool = True


@frozen
class Price:
    """A prediction, and what it is made of."""

    kernels_us: float
    host_us: float = 0.0
    transfers_us: float = 0.0
    begin_us: float = 0.0
    """Launching, waking, submitting and waiting."""

    @property
    def us(self) -> float:
        """All of it."""
        return self.kernels_us + self.host_us + self.transfers_us + self.begin_us

    def __str__(self) -> str:
        parts = (
            (self.kernels_us, "kernels"),
            (self.host_us, "NumPy"),
            (self.transfers_us, "transfers"),
            (self.begin_us, "launches"),
        )
        listed = ", ".join(f"{name} {shown(us)}" for us, name in parts if us > 0.05 * self.us)
        return f"{shown(self.us)} ({listed})" if listed else shown(self.us)


def task_us(task: Task, profile: Profile, *, working_set: float, threads: int) -> float:
    """Time of a launch: the slower of arithmetic and memory."""
    computes = task.total * task.iteration_us / threads
    moves = profile.memory_us(task.nbytes, working_set=working_set, threads=threads)
    return max(computes, moves)


def price(
    tasks: Sequence[Task],
    profile: Profile,
    *,
    calls: Sequence[HostTask] = (),
    working_set: float = 0.0,
    uploaded: Sequence[int] = (),
    downloaded: Sequence[int] = (),
) -> Price:
    """The price of a program.

    Args:
        tasks: Its launches, with times of one thread of this device.
        profile: The device.
        calls: What NumPy computes between them.
        working_set: Bytes of all its arrays: what an earlier launch has brought near is far away
            again when there are more than fit.
        uploaded: Bytes of each operand that lies elsewhere.
        downloaded: Bytes of each result that is wanted elsewhere.

    """
    kernels, begin = 0.0, CALL_US
    for task in tasks:
        threads = 1
        if profile.threads > 1 and profile.is_parallel(task.total, task.nbytes, task.iteration_us):
            threads = profile.threads
            begin += profile.wake_us
        begin += profile.launch_us
        kernels += task_us(task, profile, working_set=working_set, threads=threads)
    host = sum(_host_us(call, profile) for call in calls)
    if profile.link is None:
        return Price(kernels, host, 0.0, begin)
    begin += profile.link.submission_us + profile.link.waiting_us
    transfers = profile.link.transfers_us(uploaded, downloaded)
    return Price(kernels, host, transfers, begin)


def _host_us(call: HostTask, profile: Profile) -> float:
    """NumPy's time: of a product by its operations, else of its bytes by one thread."""
    if call.flops:
        computes = profile.products_us(call.flops, double=call.double)
        moves = profile.memory_us(call.nbytes, threads=profile.threads)  # BLAS has its own
        return CALL_US + max(computes, moves)
    return CALL_US + profile.memory_us(call.nbytes)


def shown(us: float) -> str:
    """Microseconds for people."""
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if us >= scale:
            return f"{us / scale:.3g} {unit}"
    return f"{us:.3g} us"
