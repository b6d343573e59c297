"""The kernels that are timed to find out what a device can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.build import Builder, Matrix
from runmat_jit.kernel.ir import Kernel, Value
from runmat_jit.kernel.math.exponential import exp

ELEMENTS: Final[Mapping[str, Any]] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
}
_CHAIN: Final = 8
"""Instructions of a class in a row."""


@frozen
class Sample:
    """A kernel over ``n`` elements that mostly makes instructions of one class.

    ``names`` are those of the rates that it tells, ``size`` the elements over which it is timed.
    """

    kind: str
    names: tuple[str, ...]
    kernel: Kernel
    size: int = 4096

    def numbers(self, size: int) -> list[object]:
        """What a launch gives its parameters: the number of elements comes last."""
        return [*(None,) * (len(self.kernel.parameters) - 1), size]


def stream(element: str) -> Sample:
    """One array from another: as many bytes as instructions allow."""
    return Sample("arithmetic", (), _mapped(element, lambda _k, x: x + 1.0))


def product(element: str) -> Kernel:
    """``c = a @ b`` of matrices in C order, with ``rows``, ``columns`` and ``terms``."""
    k = Builder()
    a, b, c = k.buffer("a", element), k.buffer("b", element), k.buffer("c", element, written=True)
    rows, columns, terms = (k.scalar(name, "index") for name in ("rows", "columns", "terms"))
    zero, one = (k.const(number, "index") for number in (0, 1))
    left, right = Matrix(a, zero, (terms, one)), Matrix(b, zero, (columns, one))
    with k.grid(1), k.contract(rows, columns, terms, left, right) as each:
        row, total = each.carry
        k.store(c, row * columns + each.i, total)
    return k.finish()


def column_sums(element: str, rows: int) -> Kernel:
    """Sums of ``columns``, so many rows at a time, of ``n`` times as many."""
    k = Builder()
    x, y = k.buffer("x", element), k.buffer("y", element, written=True)
    n, columns = k.scalar("n", "index"), k.scalar("columns", "index")
    with k.grid(n) as cell, k.lanes(0, columns) as lanes:
        with k.loop(0, rows, (k.splat(0.0, element),)) as loop:
            value = k.load(x, (cell.i * rows + loop.i) * columns + lanes.i)
            loop.yield_(loop.carry[0] + value)
        k.store(y, cell.i * columns + lanes.i, loop.out[0])
    return k.finish()


def rate_samples() -> list[Sample]:
    """A sample of each class; those come first that others contain."""
    return [
        *(Sample("arithmetic", (f"arithmetic{w}",), _mapped(e, _computed)) for w, e in _WIDTHS),
        *(Sample("division", (f"division{w}",), _mapped(e, _divided)) for w, e in _WIDTHS),
        Sample("conversion", ("conversion4", "conversion8"), _mapped("f32", _converted)),
        *(Sample("gather", (f"gather{w}",), _gathered(e), 1 << 15) for w, e in _WIDTHS),
    ]


_WIDTHS: Final = (("4", "f32"), ("8", "f64"))


def _mapped(kind: str, compute: Callable[[Builder, Value], Value]) -> Kernel:
    k = Builder()
    x, y = k.buffer("x", kind), k.buffer("y", kind, written=True)
    with k.lanes(0, k.scalar("n", "index")) as lanes:
        k.store(y, lanes.i, compute(k, k.load(x, lanes.i)))
    return k.finish()


def _computed(k: Builder, x: Value) -> Value:
    """What functions are made of: chains of fused multiplications, comparisons and choices."""
    for _ in range(_CHAIN // 2):
        x = exp(k, x - 2.0)
    return x


def _divided(_k: Builder, x: Value) -> Value:
    for _ in range(_CHAIN):
        x = 1.5 / x
    return x


def _converted(k: Builder, x: Value) -> Value:
    for _ in range(_CHAIN):
        x = k.convert("sitofp", k.convert("fptosi", x, "i32"), "f32")
    return x


def _gathered(kind: str) -> Kernel:
    k = Builder()
    x, at = k.buffer("x", kind), k.buffer("at", "i64" if kind == "f64" else "i32")
    y = k.buffer("y", kind, written=True)
    with k.lanes(0, k.scalar("n", "index")) as lanes:
        index = k.load(at, lanes.i)
        k.store(y, lanes.i, k.gather(x, index))
    return k.finish()
