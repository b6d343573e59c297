"""Kernels to native code: compiled once for each kernel text, kept while the backend lives."""

from __future__ import annotations

from concurrent.futures import Future

from runmat_jit.backends.llvm.jit import Jit
from runmat_jit.backends.llvm.lower import lower
from runmat_jit.backends.llvm.schedule import Schedule, instruction_count, schedule_for
from runmat_jit.backends.llvm.target import Target
from runmat_jit.core.frozen import frozen
from runmat_jit.core.locks import new_lock
from runmat_jit.kernel.ir import Kernel, Parameter
from runmat_jit.kernel.text import to_text
from runmat_jit.kernel.verify_kernel import verify_kernel

_NAME = "kernel"


@frozen
class CompiledKernel:
    """Native code of a kernel: ``void kernel(i64* args, i64 lo, i64 hi)``.

    ``args`` holds ``parameters`` in order; ``args[events_slot]`` is the address of an i64 whose
    lowest bit is set where a ``note`` fired. ``instructions`` of one iteration hint at its cost.
    """

    address: int
    text: str
    parameters: tuple[Parameter, ...]
    events_slot: int
    schedule: Schedule
    instructions: int


class LlvmBackend:
    """Compiles kernels for the machine of this process; owned by a session.

    Safe to call from several threads: each text is compiled once, whoever asks first.
    """

    def __init__(self, jit: Jit, target: Target | None = None) -> None:
        self._jit = jit
        self._target = target
        self._lock = new_lock()
        self._compiled: dict[str, Future[CompiledKernel]] = {}

    @property
    def target(self) -> Target:
        """The machine that code is generated for."""
        return self._target or self._jit.target

    @property
    def compiles(self) -> int:
        """How many kernels have been compiled or are being compiled."""
        return len(self._compiled)

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Native code of a kernel; equal kernel text is compiled once.

        Raises:
            KernelError: The kernel is not valid, which is a mistake of what built it.

        """
        key = to_text(kernel)
        with self._lock:
            known = self._compiled.get(key)
            mine = known or self._compiled.setdefault(key, Future())
        if known is None:
            try:
                mine.set_result(self._compile(kernel))
            except BaseException as error:
                with self._lock:
                    del self._compiled[key]  # another call may succeed, out of memory for one
                mine.set_exception(error)
                raise
        return mine.result()

    def forget_threads(self) -> None:
        """In a forked child: nobody compiles what threads of the parent had begun to."""
        self._compiled = {key: known for key, known in self._compiled.items() if known.done()}

    def source(self, kernel: Kernel) -> str:
        """LLVM text of a kernel, as ``compile`` would compile it."""
        return lower(kernel, schedule_for(kernel, self.target), self.target, _NAME)

    def _compile(self, kernel: Kernel) -> CompiledKernel:
        verify_kernel(kernel)
        schedule = schedule_for(kernel, self.target)
        text = lower(kernel, schedule, self.target, _NAME)
        code = self._jit.compile_object(text, self.target)
        return CompiledKernel(
            self._jit.load(code, [_NAME])[_NAME],
            text,
            kernel.parameters,
            len(kernel.parameters),
            schedule,
            instruction_count(kernel),
        )
