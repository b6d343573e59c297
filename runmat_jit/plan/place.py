"""Where a program runs: on the device whose predicted time is least.

Pure functions of prices. What they decide is kept with the program, with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from runmat_jit.core.frozen import immutable
from runmat_jit.plan.price import Price, shown
from runmat_jit.plan.profile import Profile

ASKED_FOR: Final = "the device that was asked for"
MUST_WIN: Final = 1.2
"""By which a device must be better than the one in use before a program moves."""
CALLS_TO_COME: Final = 20
"""Calls of a program over which the time to open an adapter may be regained: what is called once
is mostly called again, and nobody knows how often."""


@immutable
class Candidate:
    """A device, and what a program is predicted to take there."""

    device: str
    price: Price


@immutable
class Decision:
    """Where a program runs, of which candidates, and why."""

    device: str
    candidates: tuple[Candidate, ...]
    reason: str
    measured_us: float | None = None
    """Least time of a run so far; None where none is known."""
    measured_kernels_us: float | None = None
    """Time of the kernels of a run on a GPU, by its own clock."""

    @property
    def was_free(self) -> bool:
        """True if there was something to decide: nobody had asked for the device."""
        return self.reason != ASKED_FOR

    @property
    def as_decided(self) -> Decision:
        """The decision, without what has been measured since."""
        return Decision(self.device, self.candidates, self.reason)

    def to_dict(self) -> dict[str, object]:
        """Plain lists, strings and numbers; times in microseconds."""
        return {
            "device": self.device,
            "reason": self.reason,
            "predicted_us": {each.device: each.price.us for each in self.candidates},
            "measured_us": self.measured_us,
            "measured_kernels_us": self.measured_kernels_us,
        }

    def __str__(self) -> str:
        listed = "; ".join(f"{each.device} {each.price}" for each in self.candidates)
        told = f"on {self.device}: {self.reason}" + (f" [{listed}]" if listed else "")
        if self.measured_us is not None:
            told += f", took {shown(self.measured_us)}"
        if self.measured_kernels_us is not None:
            told += f", its kernels {shown(self.measured_kernels_us)}"
        return told


def place(candidates: Sequence[Candidate], current: str = "cpu") -> Decision:
    """The best device; the one in use unless another one is clearly better.

    Args:
        candidates: At least one; the first of those that are equally good wins.
        current: Where the program's arrays are, or where it has run so far.

    """
    best = min(candidates, key=lambda each: each.price.us)
    here = next((each for each in candidates if each.device == current), None)
    if here is None or best is here:
        others = [each for each in candidates if each is not best]
        if not others:
            return Decision(best.device, tuple(candidates), "there is no other device")
        second = min(others, key=lambda each: each.price.us)
        ratio = second.price.us / max(best.price.us, 1e-9)
        return Decision(best.device, tuple(candidates), f"{ratio:.2g} times as fast")
    ratio = here.price.us / max(best.price.us, 1e-9)
    if ratio < MUST_WIN:
        return Decision(
            here.device, tuple(candidates), f"{best.device} would gain less than it may be wrong by"
        )
    return Decision(best.device, tuple(candidates), f"{ratio:.2g} times as fast")


def worth_opening(
    on_cpu: Price, moved: tuple[Sequence[int], Sequence[int]], adapter: Profile
) -> str | None:
    """Reason why no adapter is opened for a program; None where one may gain more than that costs.

    Args:
        on_cpu: The program's price on the CPU.
        moved: Bytes of each array that would go to the adapter, and of each that would come back.
        adapter: What is known of it, or of adapters.

    """
    link = adapter.link
    if link is None:
        return "an adapter that shares the host's memory is a CPU"
    least = link.submission_us + link.waiting_us + link.transfers_us(*moved)
    gain = (on_cpu.us / MUST_WIN - least) * CALLS_TO_COME
    if gain > link.opening_us:
        return None
    if gain <= 0.0:
        return f"transfers alone would take a GPU {shown(least)}"
    return f"{CALLS_TO_COME} calls would gain {shown(gain)}, less than opening an adapter takes"
