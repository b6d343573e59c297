"""`torch.compile` on tensors of a GPU, which stay there; a batch of calls is waited for once."""

from __future__ import annotations

import torch
from torch.nn import functional

from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.peers.torch_compile import elementwise
from benchmarks.program import Arguments, Program


# -- programs of the group gpu ---------------------------------------------------------------------
def black_scholes(spot, strike, time):
    root = 0.3 * torch.sqrt(time)
    d1 = (torch.log(spot / strike) + 0.065 * time) / root
    d2 = d1 - root
    n1, n2 = (1 / (1 + torch.exp(-1.702 * d)) for d in (d1, d2))
    return spot * n1 - strike * torch.exp(-0.02 * time) * n2


def chain(x):
    y = torch.sin(x) * torch.exp(-x / 10)
    return torch.tanh(y * torch.cos(x / 4)) + 0.1 * y


def rms_norm(x, gain, _bias):
    return x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-5) * gain


def heat(x):
    y = x.clone()
    inner = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    y[1:-1, 1:-1] += 0.1 * inner
    return y


def contrast(x):
    low, high = torch.amin(x, (1, 2), keepdim=True), torch.amax(x, (1, 2), keepdim=True)
    return (x - low) / (high - low + 1e-6)


def power_step(a, x):
    y = a @ x
    return y / torch.sqrt((y * y).sum())


GPU = {
    "gelu": lambda x: functional.gelu(x, approximate="tanh"),
    "axpy": lambda x, y: 2.5 * x + y,
    "chain": chain,
    "black_scholes": black_scholes,
    "swiglu": lambda x, y: functional.silu(x) * y,
    "clamp": lambda x: torch.clamp(x, -1, 1) * 0.5,
    "softmax": lambda x: torch.softmax(x, 1),
    "softmax_of_odd_rows": lambda x: torch.softmax(x, 1),
    "log_softmax": lambda x: torch.log_softmax(x, 1),
    "layer_norm": lambda x, g, b: functional.layer_norm(x, (x.shape[1],), g, b),
    "rms_norm": rms_norm,
    "standardize": lambda x: (x - x.mean(0)) / x.std(0, correction=0),
    "sum_all": lambda x: x.sum(),
    "sum_rows": lambda x: x.sum(1),
    "sum_columns": lambda x: x.sum(0),
    "extremes": lambda x: torch.amax(x, 0) - torch.amin(x, 0),
    "norm": lambda x: torch.sqrt((x * x).sum(1)),
    "argmax": lambda x: x.argmax(1),
    "mean_squares": lambda x, y: ((x - y) ** 2).mean(),
    "laplacian": lambda x: (
        x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] - 4 * x[1:-1, 1:-1]
    ),
    "heat": heat,
    "stencil_3d": lambda x: (
        (x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]) / 4
    ),
    "convolution": lambda x: 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:],
    "with_transpose": lambda x: x + x.T,
    "luminance": lambda x: 0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2],
    "contrast": contrast,
    "relu_product": lambda a, b, c: torch.relu(a @ b + c),
    "attention": lambda q, k, v: torch.softmax(q @ k.transpose(1, 2) * 0.125, -1) @ v,
    "forward": lambda x, w, b, v, c: torch.relu(x @ w + b) @ v + c,
    "distances": lambda x, c: (x * x).sum(1)[:, None] - 2 * (x @ c.T) + (c * c).sum(1),
    "power_step": power_step,
}


# -- programs of the group gpu_odd -----------------------------------------------------------------
def cosines(x, y):
    return (x * y).sum(1) / torch.sqrt((x * x).sum(1) * (y * y).sum(1))


def adam(parameter, first, second, gradient):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * gradient * gradient
    return parameter - 0.001 * first / (torch.sqrt(second) + 1e-8), first, second


def diffusion(x):
    y = x.clone()
    inner = x[1:-1, 1:-1, 1:-1]
    around = x[2:, 1:-1, 1:-1] + x[:-2, 1:-1, 1:-1] + x[1:-1, 2:, 1:-1] + x[1:-1, :-2, 1:-1]
    around = around + x[1:-1, 1:-1, 2:] + x[1:-1, 1:-1, :-2]
    y[1:-1, 1:-1, 1:-1] = inner + 0.1 * (around - 6 * inner)
    return y


def sobel(x):
    across = x[:-2, 2:] + 2 * x[1:-1, 2:] + x[2:, 2:] - x[:-2, :-2] - 2 * x[1:-1, :-2] - x[2:, :-2]
    down = x[2:, :-2] + 2 * x[2:, 1:-1] + x[2:, 2:] - x[:-2, :-2] - 2 * x[:-2, 1:-1] - x[:-2, 2:]
    return torch.sqrt(across * across + down * down)


def blur_of_rows(x):
    n = x.shape[1] - 8
    return sum((1 / (1 + abs(k - 4))) * x[:, k : k + n] for k in range(9))


def halved(x):
    x = x[: x.shape[0] // 2 * 2, : x.shape[1] // 2 * 2]
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) * 0.25


ODD = {
    "huber": functional.huber_loss,
    "weighted_mean": lambda x, w: (x * w.abs()).sum() / w.abs().sum(),
    "root_mean_square": lambda x: torch.sqrt((x * x).mean()),
    "log_sum_exp": lambda x: torch.logsumexp(x, 1),
    "softmax_of_long_rows": lambda x: torch.softmax(x, 1),
    "softmax_of_short_rows": lambda x: torch.softmax(x, 1),
    "rms_norm": lambda x, g: x / torch.sqrt((x * x).mean(1, keepdim=True) + 1e-6) * g,
    "variances": lambda x: x.var(1, correction=0),
    "argmin": lambda x: x.argmin(1),
    "running_sums": lambda x: torch.cumsum(x, 1),
    "cosines": cosines,
    "log_softmax_of_columns": lambda x: torch.log_softmax(x, 0),
    "mish": functional.mish,
    "adam": adam,
    "damped_sines": lambda x: torch.sin(3 * x) * torch.exp(-x * x),
    "mixed_with_transpose": lambda a, b: torch.clamp(a - 2 * b.T, min=0),
    "diffusion": diffusion,
    "sobel": sobel,
    "blur_of_rows": blur_of_rows,
    "halved": halved,
    "stacked_products": lambda a, b: a @ b,
}

GROUPS = {"gpu": GPU, "gpu_odd": ODD, "six": {"elementwise": elementwise}}


def on_device(arguments: Arguments) -> tuple[torch.Tensor, ...]:
    return tuple(torch.from_numpy(each).cuda() for each in arguments)


def to_numpy(result):
    if isinstance(result, tuple):
        return tuple(map(to_numpy, result))
    return result.cpu().numpy()


def implement(name: str, program: Program) -> Implementation:
    if not torch.cuda.is_available():
        raise PeerUnavailableError("torch_cuda: torch has no GPU here")
    function = GROUPS.get(name.partition(".")[0], {}).get(program.name)
    if function is None:
        raise PeerUnavailableError(f"torch_cuda: {name} is not written for torch")
    return Implementation(
        "torch_cuda",
        {"torch": torch.__version__},
        torch.compile(function, dynamic=False),
        threads=0,
        prepare=on_device,
        to_numpy=to_numpy,
        squeezes=True,
        wait=torch.cuda.synchronize,
        resident=True,
        note=torch.cuda.get_device_name(),
    )
