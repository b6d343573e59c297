"""`torch.compile` with its default settings.

Tensors share the arrays' memory (`torch.from_numpy`, once, not timed) and results stay tensors: the
fastest use of it. From NumPy arrays in to NumPy arrays out would cost it some microseconds more.
"""

from __future__ import annotations

import torch

from benchmarks.cases.case import Arrays, Case
from benchmarks.peers.peer import Implementation, select


def elementwise(x):
    y0 = torch.sin(x) * torch.exp(-x / 10)
    y1 = y0 * torch.cos(x / 4) + 0.25 * y0**2
    return torch.tanh(y1) + 0.1 * y1


def image_4k(x):
    mean = x.mean(dim=(1, 2), keepdim=True)
    sigma = torch.sqrt(((x - mean) ** 2).mean(dim=(1, 2), keepdim=True) + 1e-6)
    out = torch.clamp((x - mean) / sigma * 1.0123 - 0.02, min=0.0) ** 1.8
    return out, ((out - x) ** 2).mean()


FUNCTIONS = {"elementwise": elementwise, "image_4k": image_4k}


def prepare(inputs: Arrays) -> tuple[torch.Tensor, ...]:
    return tuple(map(torch.from_numpy, inputs))


def to_numpy(result):
    if isinstance(result, tuple):
        return tuple(map(to_numpy, result))
    return result.numpy()


def implement(case: Case) -> Implementation:
    function = select("torch_compile", FUNCTIONS, case.name)
    return Implementation(
        peer="torch_compile",
        versions={"torch": torch.__version__},
        threads=torch.get_num_threads(),
        run=torch.compile(function, fullgraph=True),
        prepare=prepare,
        to_numpy=to_numpy,
        note="tensors in, tensors out",
    )
