"""The implementations that are compared; one module each, imported only when asked for."""

from __future__ import annotations

from importlib import import_module

from benchmarks.cases.case import Case
from benchmarks.peers.peer import Implementation, PeerUnavailableError

NAMES = ("runmat", "numpy", "torch_compile", "jax", "numba", "numexpr", "drjit")


def load(name: str, case: Case) -> Implementation:
    """The named peer's version of a case.

    Raises:
        PeerUnavailableError: the peer is not installed, or has no version of this case.
    """
    if name not in NAMES:
        raise PeerUnavailableError(f"there is no peer {name!r}; there are {', '.join(NAMES)}")
    try:
        module = import_module(f"benchmarks.peers.{name}")
    except ModuleNotFoundError as error:
        raise PeerUnavailableError(
            f"{name}: module {error.name!r} is not installed; see the extra 'bench'"
        ) from error
    return module.implement(case)
