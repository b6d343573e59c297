"""Kernels to native code: compiled once for each kernel text, kept while the backend lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.target import Target
from runmat_jit.backends.llvm.watched_call import watched_call, watched_cells
from runmat_jit.core.frozen import frozen
from runmat_jit.core.loading import LOADER
from runmat_jit.core.locks import Made

if TYPE_CHECKING:
    from runmat_jit.backends.llvm.schedule import Schedule
    from runmat_jit.kernel.ir import Kernel, Parameter

_NAME = "kernel"


@frozen
class CompiledKernel:
    """Native code of a kernel: ``void kernel(i64* args, i64 lo, i64 hi)``.

    ``args`` holds ``parameters`` in order; ``args[events_slot]`` is the address of an i64 whose
    lowest bit is set where a ``note`` fired. ``key`` is that of its object code.
    """

    address: int
    key: str
    text: str
    parameters: tuple[Parameter, ...]
    events_slot: int
    schedule: Schedule


class LlvmBackend:
    """Compiles kernels for the machine of this process; owned by a session.

    Safe to call from several threads: each text is compiled once, whoever asks first.
    """

    def __init__(self, jit: Jit, target: Target | None = None) -> None:
        self._jit = jit
        self._target = target
        self._compiled: Made[str, CompiledKernel] = Made()
        self._loaded: Made[str, int] = Made()

    @property
    def target(self) -> Target:
        """The machine that code is generated for."""
        return self._target or self._jit.target

    @property
    def compiles(self) -> int:
        """Number of kernels, compiled here or kept by the cache."""
        return len(self._loaded)

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Native code of a kernel; equal kernel text is compiled once.

        Raises:
            KernelError: The kernel is not valid, which is a mistake of what built it.

        """
        LOADER.load(LOWERING)
        from runmat_jit.kernel.text import to_text  # noqa: PLC0415  (loaded here)

        return self._compiled.get(to_text(kernel), lambda: self._compile(kernel))

    def kept(self, key: str) -> int:
        """Address of a kernel whose object code has this key.

        Raises:
            KeyError: it is not kept.

        """
        return self._loaded.get(key, lambda: self._jit.kept_functions(key, [_NAME])[_NAME])

    def watched_call(self) -> int:
        """Address of what runs one cell of a kernel and tells of events (:mod:`.watched_call`)."""
        return self._loaded.get("watched_call", lambda: watched_call(self._jit))

    def watched_cells(self) -> int:
        """Address of what does so for several argument blocks (:mod:`.watched_call`)."""
        return self._loaded.get("watched_cells", lambda: watched_cells(self._jit))

    def source(self, kernel: Kernel) -> str:
        """LLVM text of a kernel, as ``compile`` would compile it."""
        return self._lower(kernel)[1]

    def _lower(self, kernel: Kernel) -> tuple[Schedule, str]:
        LOADER.load(LOWERING)
        from runmat_jit.backends.llvm.lower import lower  # noqa: PLC0415  (loaded here)
        from runmat_jit.backends.llvm.schedule import schedule_for  # noqa: PLC0415  (loaded here)

        schedule = schedule_for(kernel, self.target)
        return schedule, lower(kernel, schedule, self.target, _NAME)

    def _compile(self, kernel: Kernel) -> CompiledKernel:
        from runmat_jit.kernel.verify_kernel import verify_kernel  # noqa: PLC0415  (loaded by now)

        verify_kernel(kernel)
        schedule, text = self._lower(kernel)
        key = self._jit.key(text, self.target)

        def address() -> int:
            return self._jit.functions(text, [_NAME], target=self.target)[_NAME]

        return CompiledKernel(
            self._loaded.get(key, address),
            key,
            text,
            kernel.parameters,
            len(kernel.parameters),
            schedule,
        )


LOWERING: Final = (
    "runmat_jit.backends.llvm.lower",
    "runmat_jit.backends.llvm.schedule",
    "runmat_jit.kernel.text",
    "runmat_jit.kernel.verify_kernel",
)
"""What makes LLVM's text of a kernel."""
