"""Products of matrices and what programs make of them: ``python -m benchmarks.products``.

Programs as people write them, from robotics to layers of networks, small and large, decorated and
as plain NumPy; with ``--jax`` also under ``jax.jit`` (64-bit numbers enabled). Results are compared
first, within the bound of a sum in any order. Ratios are of the least times of rounds in which all
alternate; large products by several libraries in one process disturb each other, so that ratios
below 1.1 say little.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from time import perf_counter
from types import ModuleType
from typing import Any

import numpy as np

import runmat_jit as runmat

Array = np.ndarray
ROUNDS = 15


# -- programs: ``m`` is the array module -----------------------------------------------------------
def rotate(m: ModuleType, a: Array, b: Array, v: Array) -> Array:
    del m
    return a @ b @ v + 1


def predict(m: ModuleType, f: Array, p: Array, q: Array, x: Array) -> Any:
    del m
    return f @ x, f @ p @ f.T + q


def cell(m: ModuleType, w: Array, u: Array, x: Array, h: Array) -> Array:
    return m.tanh(w @ x + u @ h + 1)


def layers(m: ModuleType, x: Array, w: Array, b: Array, v: Array) -> Array:
    return m.maximum(x @ w + b, 0) @ v + 1


def gelu(m: ModuleType, x: Array, w: Array, b: Array) -> Array:
    y = x @ w + b
    return 0.5 * y * (1 + m.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))


def distances(m: ModuleType, x: Array, c: Array) -> Array:
    del m
    return (x * x).sum(1)[:, None] - 2 * (x @ c.T) + (c * c).sum(1)[None, :]


def nearest(m: ModuleType, x: Array, c: Array) -> Array:
    del m
    return ((c * c).sum(1) - 2 * (x @ c.T)).argmin(1)


def within(m: ModuleType, x: Array, c: Array) -> Array:
    return m.exp(x @ c.T).sum(axis=1)


def covariance(m: ModuleType, x: Array) -> Array:
    return m.cov(x, rowvar=False) * 2


def correlation(m: ModuleType, x: Array) -> Array:
    return m.corrcoef(x)


def inner(m: ModuleType, x: Array, y: Array) -> Array:
    return x - m.inner(x, y)[:, None]


def of_axes(m: ModuleType, x: Array, y: Array) -> Array:
    return m.tensordot(x, y, axes=([2], [1])) + 1


def attention(m: ModuleType, q: Array, k: Array, v: Array) -> Array:
    s = q @ m.swapaxes(k, -1, -2) / 8
    e = m.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ v


def logistic(m: ModuleType, x: Array, w: Array, y: Array) -> Array:
    p = 1 / (1 + m.exp(-(x @ w)))
    return x.T @ (p - y) / len(y)


def relu_of_stacks(m: ModuleType, a: Array, b: Array, c: Array) -> Array:
    return m.maximum(a @ b + c, 0)


def gram(m: ModuleType, x: Array) -> Array:
    del m
    centered = x - x.mean(axis=0)
    return centered.T @ centered / (len(x) - 1)


def explained(m: ModuleType, q: Array, g: Array) -> Array:
    return m.diag(q.T @ g @ q)


def contracted(m: ModuleType, a: Array, b: Array) -> Array:
    return m.einsum("ij,jk->ik", a, b)


def chained(m: ModuleType, a: Array, b: Array, c: Array) -> Array:
    return m.einsum("ij,jk,kl->il", a, b, c)


def along_rows(m: ModuleType, a: Array, b: Array) -> Array:
    return m.einsum("ij,ij->i", a, b)


def traced(m: ModuleType, a: Array, b: Array) -> Any:
    return m.trace(a.T @ b)


def lengths(m: ModuleType, x: Array) -> Array:
    return m.linalg.norm(x, axis=1)


def power_step(m: ModuleType, g: Array, q: Array) -> Array:
    y = g @ q
    return y / m.linalg.norm(y, axis=0)


def alone(m: ModuleType, a: Array, b: Array) -> Array:
    del m
    return a @ b


Shapes = tuple[tuple[int, ...], ...]
CASES: tuple[tuple[Callable[..., Any], tuple[Shapes, ...]], ...] = (
    (rotate, (((3, 3), (3, 3), (3,)),)),
    (predict, (((4, 4), (4, 4), (4, 4), (4,)), ((12, 12), (12, 12), (12, 12), (12,)))),
    (cell, (((16, 8), (16, 16), (8,), (16,)),)),
    (
        layers,
        (
            ((1, 20), (20, 32), (32,), (32, 3)),
            ((32, 20), (20, 32), (32,), (32, 3)),
            ((256, 784), (784, 512), (512,), (512, 10)),
        ),
    ),
    (gelu, (((32, 32), (32, 32), (32,)), ((1024, 1024), (1024, 1024), (1024,)))),
    (distances, (((40, 3), (8, 3)), ((5000, 16), (5000, 16)))),
    (nearest, (((40, 3), (8, 3)), ((100_000, 16), (1000, 16)))),
    (within, (((5000, 16), (5000, 16)),)),
    (covariance, (((40, 30),), ((20_000, 100),))),
    (correlation, (((40, 30),), ((500, 200),))),
    (inner, (((100, 8), (8,)), ((20_000, 50), (50,)))),
    (of_axes, (((10, 4, 30), (30, 30)), ((20, 100, 200), (100, 200)))),
    (attention, (((2, 16, 8), (2, 16, 8), (2, 16, 8)), ((8, 512, 64),) * 3)),
    (logistic, (((100, 5), (5,), (100,)), ((20_000, 50), (50,), (20_000,)))),
    (relu_of_stacks, (((1000, 8, 8), (1000, 8, 8), (8,)), ((1000, 32, 32), (1000, 32, 32), (32,)))),
    (gram, (((200, 10),), ((20_000, 512),))),
    (explained, (((1024, 8), (1024, 1024)),)),
    (contracted, (((3, 3), (3, 3)), ((300, 300), (300, 300)))),
    (chained, (((30, 20), (20, 25), (25, 8)), ((300, 200), (200, 250), (250, 8)))),
    (along_rows, (((10, 3), (10, 3)), ((1000, 1000), (1000, 1000)))),
    (traced, (((30, 30), (30, 30)), ((1000, 1000), (1000, 1000)))),
    (lengths, (((10, 3),), ((1000, 1000),))),
    (power_step, (((30, 30), (30, 8)), ((1000, 1000), (1000, 8)))),
    (alone, (((10, 10), (10, 10)), ((1024, 1024), (1024, 1024)), ((1024, 1024), (1024,)))),
)


# -- measuring -------------------------------------------------------------------------------------
def agree(ours: Any, theirs: Any, dtype: str) -> None:
    """Compare results, which sum products in orders of their own."""
    pairs = zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else ((ours, theirs),)
    for one, other in pairs:
        scale = float(np.abs(other).max())
        np.testing.assert_allclose(one, other, atol=1e5 * np.finfo(dtype).eps * scale)


def measure(ways: dict[str, Callable[[], Any]], *, rounds: int) -> dict[str, float]:
    """Microseconds of a call, each way."""
    best = dict.fromkeys(ways, np.inf)
    counts: dict[str, int] = {}
    for name, call in ways.items():
        for _ in range(40):
            begin = perf_counter()
            call()
            counts[name] = max(1, min(500, int(2e-3 / (perf_counter() - begin))))
    for _ in range(rounds):
        for name, call in ways.items():
            begin = perf_counter()
            for _ in range(counts[name]):
                call()
            best[name] = min(best[name], (perf_counter() - begin) / counts[name] * 1e6)
    return best


def compiled_by_jax(program: Callable[..., Any], given: Sequence[Array]) -> Callable[[], Any]:
    """A call under ``jax.jit``, on arrays of its own, whose result is waited for."""
    import jax  # noqa: PLC0415  (a peer that may not be installed)

    jax.config.update("jax_enable_x64", True)
    own, function = (
        [jax.numpy.asarray(x) for x in given],
        jax.jit(lambda *x: program(jax.numpy, *x)),
    )
    return lambda: jax.block_until_ready(function(*own))


def main(argv: Sequence[str] | None = None) -> None:
    """Print a row for each program, dtype and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--jax", action="store_true", help="compare with jax.jit, too")
    options = parser.parse_args(argv)
    peers = " JAX / ours |" if options.jax else ""
    print(f"| program | shapes | dtype | ours, us | NumPy / ours |{peers}")
    print("|---|---|---|---|---|" + "---|" * bool(options.jax))
    for program, sizes in CASES:
        for shapes in sizes[:1] if options.quick else sizes:
            for dtype in ("float32", "float64"):
                print(row(program, shapes, dtype, options), flush=True)


def row(program: Callable[..., Any], shapes: Shapes, dtype: str, options: Any) -> str:
    """The measured row of one case."""
    rng = np.random.default_rng(0)
    given = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    compiled = runmat.jit(program)
    expected = program(np, *given)
    for _ in range(4):
        agree(compiled(np, *given), expected, dtype)
    ways: dict[str, Callable[[], Any]] = {
        "ours": lambda: compiled(np, *given),
        "NumPy": lambda: program(np, *given),
    }
    if options.jax:
        ways["JAX"] = compiled_by_jax(program, given)
        agree(ways["JAX"](), expected, dtype)
    found = measure(ways, rounds=1 if options.quick else ROUNDS)
    cells = [f"{found[name] / found['ours']:.2f}" for name in ways if name != "ours"]
    sized = " ".join("x".join(map(str, shape)) for shape in shapes)
    return (
        f"| `{program.__name__}` | {sized} | {dtype} | {found['ours']:.2f} | {' | '.join(cells)} |"
    )


if __name__ == "__main__":
    main()
