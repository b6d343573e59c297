"""The kernels that are timed to find out what a device can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.build import Builder
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
