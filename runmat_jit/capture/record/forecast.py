"""Forecast of what recording a loop costs, made after its first iterations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from runmat_jit.capture.record.recording import Recording

SAMPLE: Final = 3
"""Iterations of a loop after which it is known what the others will cost."""
_SIZED: Final = (range, list, tuple)


class Forecast:
    """Ends a recording that its loop of known length would end anyhow, without gain, later on."""

    def __init__(self, recording: Recording, length: int) -> None:
        self.recording, self.length, self.done = recording, length, 0
        self.elements, self.work = recording.balance.elements, self._work()

    @classmethod
    def of(cls, recording: Recording, iterated: Iterable[object]) -> Forecast | None:
        """Return the forecast of a loop; None if its length is not known, or is small."""
        if not isinstance(iterated, _SIZED) or len(iterated) <= SAMPLE:
            return None
        return cls(recording, len(iterated))

    def _work(self) -> int:
        return self.recording.balance.work_with(self.recording.pending)

    def begin(self) -> None:
        """Count an iteration that begins; see to it that the recording ends if it is hopeless."""
        self.done += 1
        if self.done != SAMPLE + 1:
            return
        balance, times = self.recording.balance, self.length // SAMPLE
        elements = self.elements + times * (balance.elements - self.elements)
        work = self.work + times * (self._work() - self.work)
        if elements > balance.next_end and 2 * work < elements:
            detail = f"{self.length} iterations, each with little work on whole arrays"
            self.recording.run_away(detail)
