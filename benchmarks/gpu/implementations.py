"""Our side and torch's: both take arrays that lie on the device, and are waited for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.gpu.contests import Arrays, Contest
from runmat_jit.core.errors import BackendError
from runmat_jit.runtime.session import current_session


@dataclass(frozen=True, slots=True)
class Implementation:
    name: str
    prepare: Callable[[Arrays], tuple[Any, ...]]  # to the device, once
    run: Callable[..., Any]
    wait: Callable[[], None]  # until everything started is done
    to_numpy: Callable[[Any], Any]


def describe_device() -> dict[str, str]:
    """The adapter and driver in use, and the versions of the libraries.

    Raises:
        BackendError: there is no adapter.
    """
    info = current_session().gpu.info
    found = {"adapter": str(info), "driver": info.driver, "wgpu": version("wgpu")}
    if torch_has_a_gpu():
        import torch  # noqa: PLC0415  (may not be installed)

        found |= {"torch": torch.__version__, "torch's device": torch.cuda.get_device_name()}
    return found


def is_software() -> bool:
    """Whether the adapter in use computes on the CPU: its times say nothing about GPUs."""
    return current_session().gpu.info.software


def torch_has_a_gpu() -> bool:
    if find_spec("torch") is None:
        return False
    import torch  # noqa: PLC0415  (may not be installed)

    return torch.cuda.is_available()


def ours(contest: Contest) -> Implementation:
    """The decorated function; it is refused where it would run on the CPU, unless that is right."""
    runmat.config(reproducible=contest.reproducible)
    run = runmat.jit(contest.function, device="gpu")
    return Implementation("runmat", on_device, run, _wait, to_numpy)


def where_it_ran(contest: Contest, implementation: Implementation, inputs: tuple[Any, ...]) -> str:
    """Devices of the regions, and why they are not the GPU.

    Raises:
        BackendError: a program that need not be reproducible did not run on the GPU.
    """
    explanation = implementation.run.explain(*inputs)
    reasons = "; ".join(map(str, explanation.reasons))
    if set(explanation.devices) != {"gpu"} and not contest.reproducible:
        raise BackendError(f"{contest.name} ran on {explanation.devices}: {reasons}")
    return f"on {', '.join(sorted(set(explanation.devices)))}" + (
        f" ({reasons})" if reasons else ""
    )


def on_device(arrays: Arrays) -> tuple[Any, ...]:
    return tuple(runmat.asarray(x, device="gpu") for x in arrays)


def to_numpy(result: Any) -> Any:
    return tuple(map(to_numpy, result)) if isinstance(result, tuple) else np.asarray(result)


def torch_peer(contest: Contest) -> Implementation:
    """`torch.compile`, and for a sum torch's own, which is faster than what it compiles."""
    import torch  # noqa: PLC0415  (may not be installed)

    from benchmarks.peers import torch_compile  # noqa: PLC0415  (imports torch)

    compiled = {"chain": torch_compile.elementwise, "image_4k": torch_compile.image_4k}
    function = compiled.get(contest.peer)
    run = torch.sum if function is None else torch.compile(function, fullgraph=True)
    return Implementation(
        "torch.compile" if function else "torch",
        lambda arrays: tuple(torch.from_numpy(x).cuda() for x in arrays),
        run,
        torch.cuda.synchronize,
        lambda result: torch_compile.to_numpy(_to_host(result)),
    )


def _to_host(result: Any) -> Any:
    return tuple(map(_to_host, result)) if isinstance(result, tuple) else result.cpu()


def _wait() -> None:
    current_session().gpu.backend.device.wait()
