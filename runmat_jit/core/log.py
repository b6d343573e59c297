"""The package's log; ``logging`` is loaded by the first line in it, which few processes see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.loading import LOADER

if TYPE_CHECKING:
    from logging import Logger


class _Log:
    """Stands for the logger named ``runmat_jit``."""

    def __getattr__(self, name: str) -> Any:
        LOADER.load(("logging",))
        import logging  # noqa: PLC0415  (loaded here)

        return getattr(logging.getLogger("runmat_jit"), name)


LOG: Final[Logger] = _Log()  # type: ignore[assignment]  # has all that a logger has
