"""`torch.compile` with its default settings.

Tensors share the arrays' memory (`torch.from_numpy`, once, not timed) and results stay tensors: the
fastest use of it. Programs without a version by hand are traced from their NumPy code.
"""

from __future__ import annotations

import torch

from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Arguments, Program


def elementwise(x):
    y0 = torch.sin(x) * torch.exp(-x / 10)
    y1 = y0 * torch.cos(x / 4) + 0.25 * y0**2
    return torch.tanh(y1) + 0.1 * y1


def image_4k(x):
    mean = x.mean(dim=(1, 2), keepdim=True)
    sigma = torch.sqrt(((x - mean) ** 2).mean(dim=(1, 2), keepdim=True) + 1e-6)
    out = torch.clamp((x - mean) / sigma * 1.0123 - 0.02, min=0.0) ** 1.8
    return out, ((out - x) ** 2).mean()


FUNCTIONS = {"six.elementwise": elementwise, "six.image_4k": image_4k}


def tensors(arguments: Arguments) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.from_numpy, arguments))


def to_numpy(result):
    if isinstance(result, tuple):
        return tuple(map(to_numpy, result))
    return result.numpy()


def implement(name: str, program: Program) -> Implementation:
    by_hand = FUNCTIONS.get(name)
    if by_hand is None and name.partition(".")[0] not in ("six", "named"):
        raise PeerUnavailableError(f"torch_compile: {name} would be unrolled element by element")
    compiled = torch.compile(by_hand or program.fn, fullgraph=True)
    if by_hand is None:
        note = "NumPy code, arrays in and out"
        return Implementation("torch_compile", {"torch": torch.__version__}, compiled, note=note)
    return Implementation(
        "torch_compile",
        {"torch": torch.__version__},
        compiled,
        threads=torch.get_num_threads(),
        prepare=tensors,
        to_numpy=to_numpy,
        note="tensors in, tensors out",
    )
