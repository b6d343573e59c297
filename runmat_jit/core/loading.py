"""Modules that are loaded at the first call: wholly, whatever interrupts it, and not beside a fork.

Importing the package must not take long, so the compiler comes with the first call. A thread of its
own imports it: a signal handler that the caller runs meanwhile, and what it raises, find no module
half loaded, nor does a recursion that is near its limit. A process forks before or after, never in
the middle: in the child Python would wait for the importing thread, which does not exist there.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import Final

from runmat_jit.core.locks import new_lock
from runmat_jit.core.uninterrupted import await_thread

COMPILER: Final = (
    "runmat_jit.capture.function",
    "runmat_jit.capture.trial",
    "runmat_jit.compiler.compiler",
    "runmat_jit.backends.llvm.allocator",
    "runmat_jit.backends.llvm.backend",
    "runmat_jit.backends.llvm.launcher",
    "runmat_jit.backends.llvm.object_cache",
    "runmat_jit.runtime.profiles",
)
"""What calls on the CPU may need, the first one and later ones."""
STAGES: Final = (
    "runmat_jit.compiler.lower_program",
    "runmat_jit.kernel.math.tables",
)
"""What makes programs that no earlier process has kept."""
EVENTS: Final = ("runmat_jit.backends.reference.events",)
"""What finds out of what to warn."""
VERIFYING: Final = (
    "runmat_jit.verified_call",
    "runmat_jit.compiler.verified_program",
    "runmat_jit.backends.reference.interpret",
)
"""What compares results with NumPy's, where an option asks for it."""
SHAPES: Final = ("runmat_jit.compiler.template",)
"""What makes programs for all shapes."""
LOOPS: Final = ("runmat_jit.loops.sites",)
"""What makes kernels of loops."""
GATES: Final = ("runmat_jit.compiler.gate_writer",)
"""What makes gates."""
LLVM: Final = ("llvmlite.binding",)
"""What compiles kernels that no earlier process has compiled."""
GPU: Final = (
    "runmat_jit.compiler.gpu_program",
    "runmat_jit.compiler.resident",
    "runmat_jit.compiler.resident_gpu",
    "runmat_jit.backends.wgpu.probe",
)
"""What calls on a GPU, or with arrays that may be on one, need beside it."""
_FORK_WAITS_S: Final = 60.0
"""For what is being loaded; then the parent matters more than its child."""


class Loader:
    """Imports modules in threads of their own, one after the other."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._loaded: set[tuple[str, ...]] = set()

    def load(self, names: tuple[str, ...] = COMPILER) -> bool:
        """True if modules are loaded, now if not before.

        False: a signal handler has interrupted this thread while it imports what they need.

        Raises:
            ImportError: one cannot be imported.

        """
        while names not in self._loaded:
            if imports_ours(sys._getframe()):
                return False
            self._import_in_thread(names)
        return True

    def _import_in_thread(self, names: tuple[str, ...]) -> None:
        """Wait for a thread that imports modules; a child that is forked meanwhile has none."""
        errors: list[BaseException] = []
        await_thread(lambda: self._import(names, errors))
        if errors:
            raise errors[0]

    def _import(self, names: tuple[str, ...], errors: list[BaseException]) -> None:
        try:
            with self._lock:
                with no_collections():
                    for name in names:
                        import_module(name)
                self._loaded.add(names)
        except BaseException as error:  # noqa: BLE001  (raised by the thread that waits)
            errors.append(error)

    def before_fork(self) -> None:
        """Wait until nothing is being loaded."""
        self._lock.acquire(timeout=_FORK_WAITS_S)

    def after_fork(self) -> None:
        """Let others load again."""
        if self._lock._is_owned():  # type: ignore[attr-defined]  # as `Condition` asks
            self._lock.release()


@contextmanager
def no_collections() -> Iterator[None]:
    """No search for garbage: it would go through modules that stay, for a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


LOADER: Final = Loader()

_NEEDED: Final = frozenset(
    (*sys.stdlib_module_names, "llvmlite", "numpy", "platformdirs", "runmat_jit")
)


def imports_ours(frame: FrameType | None) -> bool:
    """True if a thread with these frames is importing what the compiler needs.

    Another thread would wait for it, and it for that one.
    """
    while frame is not None:
        code = frame.f_code
        if code.co_filename == "<frozen importlib._bootstrap>" and code.co_name == "_find_and_load":
            name = str(frame.f_locals.get("name", ""))
            if name.partition(".")[0] in _NEEDED:
                return True
        frame = frame.f_back
    return False
