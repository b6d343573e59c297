"""The package's log; ``logging`` is loaded by the first line in it, which few processes see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from runmat_jit.core.loading import LOADER

if TYPE_CHECKING:
    from logging import Logger


def show(level: str) -> None:
    """Have lines from a level on shown, on the standard error stream if nobody else takes them.

    ``PLACEMENT`` in place of a level: the lines about where programs are placed.
    """
    LOADER.load(("logging",))
    import logging  # noqa: PLC0415  (see above)

    of_placement = level == PLACEMENT.upper()
    logger = logging.getLogger(f"runmat_jit.{PLACEMENT}" if of_placement else "runmat_jit")
    logger.setLevel("DEBUG" if of_placement else level)
    if not any(handler.get_name() == _SHOWN for handler in logger.handlers):
        handler = logging.StreamHandler()
        handler.set_name(_SHOWN)
        handler.addFilter(lambda _record: not logging.root.handlers)
        logger.addHandler(handler)


PLACEMENT: Final = "placement"
"""The logger of where programs are placed, below the package's: its lines can be had alone."""
_SHOWN: Final = "runmat_jit: RUNMAT_LOG"


class _Log:
    """Stands for the logger named ``runmat_jit``."""

    def __getattr__(self, name: str) -> Any:
        LOADER.load(("logging",))
        import logging  # noqa: PLC0415  (loaded here)

        return getattr(logging.getLogger("runmat_jit"), name)


LOG: Final[Logger] = _Log()  # type: ignore[assignment]  # has all that a logger has
