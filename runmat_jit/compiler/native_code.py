"""Machine code of a program, bound to numbered memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from runmat_jit.core.frozen import frozen

if TYPE_CHECKING:
    from runmat_jit.compiler.host_step import HostStep
    from runmat_jit.kernel.ir import Kernel
    from runmat_jit.plan.layout import Layout
    from runmat_jit.plan.profile import Profile

Pick = Callable[[Sequence[Any]], tuple[np.ndarray, ...]]


@frozen
class Bound:
    """A launch with its kernel compiled.

    ``places`` numbers the arrays of the first parameters in a program's memory; ``block`` is the
    argument block after them, with zeros where scalars given by value go (``scalars``: block
    slot, memory number).
    """

    address: int
    places: tuple[int, ...]
    offsets: tuple[int, ...]
    block: tuple[int, ...]
    scalars: tuple[tuple[int, int], ...]
    total: int
    grain: int
    nbytes: int
    iteration_us: float
    """What one thread computes for an iteration takes, by the machine's profile."""
    key: str = ""
    """Of the object code in the cache."""

    def is_parallel(self, profile: Profile) -> bool:
        """True if the launch is long enough to wake the thread pool for it."""
        return profile.is_parallel(self.total, self.nbytes, self.iteration_us)


@frozen
class NativeCode:
    """Machine code of a program, and the memory that it is bound to.

    ``blind``: a kernel may run over nothing, and so not see an event of a scalar that it computes.
    """

    layout: Layout
    tables: tuple[np.ndarray, ...]
    launches: tuple[Bound, ...]
    calls: tuple[HostStep, ...]
    """Calls that run between the launches, in order."""
    kernels: tuple[Kernel, ...]
    blind: bool


def picker(numbers: Sequence[int]) -> Pick:
    """A fast function that picks these items as a tuple."""
    if len(numbers) == 1:
        only = numbers[0]
        return lambda memory: (memory[only],)
    if not numbers:
        return lambda _memory: ()
    return itemgetter(*numbers)
