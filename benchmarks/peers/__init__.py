"""The implementations that are compared; one module each, imported only when asked for."""

from __future__ import annotations

from importlib import import_module

from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.programs import programs

NAMES = (
    "numpy",
    "runmat",
    "runmat_cpu",
    "runmat_gpu",
    "runmat_resident",
    "matlab",
    "numba",
    "jax",
    "torch_compile",
    "torch_cuda",
    "numexpr",
    "drjit",
)


def load(peer: str, name: str) -> Implementation:
    """Return a peer's version of a program.

    Raises:
        PeerUnavailableError: the peer is not installed, or has no version of the program.
    """
    if peer not in NAMES:
        raise PeerUnavailableError(f"there is no peer {peer!r}; there are {', '.join(NAMES)}")
    try:
        module = import_module(f"benchmarks.peers.{peer}")
    except ModuleNotFoundError as error:
        raise PeerUnavailableError(
            f"{peer}: module {error.name!r} is not installed; see the extra 'bench'"
        ) from error
    return module.implement(name, programs()[name])
