"""What lowering gives to a backend: kernels and how their parameters are bound."""

from __future__ import annotations

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Kernel
from runmat_jit.plan.argument import Argument


@frozen
class Launch:
    """One kernel run: arguments in parameter order over ``total`` iterations of its top block.

    ``grain`` iterations are the least that one thread should take at once.
    """

    kernel: Kernel
    arguments: tuple[Argument, ...]
    total: int
    grain: int
    nbytes: int
    """Bytes read and written at least, for reports and for the choice of threads."""
