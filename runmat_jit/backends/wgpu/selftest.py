"""What the floats of an adapter do: found by running kernels whose results are known.

Each identity below holds in IEEE arithmetic and is one that some driver breaks. The weakest guard
under which all hold is the one to print shaders with; division, square root, ``fma`` and subnormal
numbers are properties of the hardware, tested under the strongest guard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from runmat_jit.backends.wgpu.adapter import Device
from runmat_jit.backends.wgpu.arithmetic import GUARDS, Arithmetic, Guard
from runmat_jit.backends.wgpu.backend import WgpuBackend
from runmat_jit.backends.wgpu.builtins import builtin_errors
from runmat_jit.backends.wgpu.run import KernelRun, WgpuRunner
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Kernel, Value
from runmat_jit.kernel.math.rounding import clamp

_DTYPES: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f64": np.float64}
_COUNT = 1024
Floats = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class FloatFindings:
    """What holds for one float type; ``guard`` is None where no level restores its meaning."""

    guard: Guard | None
    fused_fma: bool
    exact_division: bool
    exact_sqrt: bool
    keeps_subnormals: bool


@dataclass(frozen=True, slots=True)
class Findings:
    """What an adapter does, by float type, and the errors of its built-in functions.

    ``builtins`` holds the largest error of each float32 function in units in the last place, on
    the range to which our own range reduction brings its argument.
    """

    floats: Mapping[str, FloatFindings]
    builtins: Mapping[str, float]

    @property
    def arithmetic(self) -> Arithmetic:
        """What makes shaders mean what kernels say, as far as it can be had."""
        guards = [f.guard or GUARDS[-1] for f in self.floats.values()]
        return Arithmetic(
            max(guards, key=GUARDS.index),
            frozenset(kind for kind, f in self.floats.items() if self._emulates(kind, f)),
            frozenset(
                (op, kind)
                for kind, f in self.floats.items()
                for op, exact in (("div", f.exact_division), ("sqrt", f.exact_sqrt))
                if kind == "f32" and not exact and (self._wide_is_exact or f.fused_fma)
            ),
            wide=self._wide_is_exact,
        )

    @property
    def _wide_is_exact(self) -> bool:
        wide = self.floats.get("f64")
        return wide is not None and wide.exact_division and wide.exact_sqrt

    def _emulates(self, kind: str, findings: FloatFindings) -> bool:
        return not findings.fused_fma and (kind == "f64" or "f64" in self.floats)

    def irreproducible(self, kind: str) -> str | None:
        """Why float results of a type may differ from the CPU's; None where they do not."""
        found = self.floats.get(kind)
        if found is None:
            return f"it has no {kind}"
        if found.guard is None:
            return f"its driver rearranges {kind} arithmetic in spite of all guards"
        if not found.keeps_subnormals:
            return f"it flushes subnormal {kind} numbers to zero"
        corrected = {op for op, of in self.arithmetic.correct if of == kind and self.arithmetic.wide}
        if not found.exact_division and "div" not in corrected:
            return f"it does not round {kind} division correctly"
        if not found.exact_sqrt and "sqrt" not in corrected:
            return f"it does not round {kind} square roots correctly"
        if not found.fused_fma and kind not in self.arithmetic.emulate_fma:
            return f"it rounds {kind} multiplication and addition twice"
        return None

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a file."""
        floats = {kind: asdict(found) for kind, found in self.floats.items()}
        return {"floats": floats, "builtins": dict(self.builtins)}

    @staticmethod
    def from_json(plain: Mapping[str, Any]) -> Findings:
        """The findings that ``to_json`` wrote."""
        floats = {kind: FloatFindings(**found) for kind, found in plain["floats"].items()}
        return Findings(floats, dict(plain["builtins"]))


def self_test(device: Device) -> Findings:
    """Run all tests on a device: some ten small shaders."""
    kinds = ["f32", *(["f64"] if "f64" in device.info.kinds else [])]
    return Findings({kind: _test_floats(device, kind) for kind in kinds}, builtin_errors(device))


def _test_floats(device: Device, kind: str) -> FloatFindings:
    operands = _operands(kind)
    shares = {guard: _shares(device, kind, guard, operands) for guard in GUARDS}
    kept = [g for g in GUARDS if all(shares[g][name] == 1.0 for name in _IDENTITIES)]
    hardware = shares["xor"]
    return FloatFindings(
        kept[0] if kept else None,
        fused_fma=hardware["fma"] == 1.0,
        exact_division=hardware["division"] == 1.0,
        exact_sqrt=hardware["sqrt"] == 1.0,
        keeps_subnormals=hardware["subnormals"] == 1.0,
    )


def _shares(
    device: Device, kind: str, guard: Guard, operands: tuple[Floats, ...]
) -> dict[str, float]:
    """The share of exact results of each test under one guard."""
    arithmetic = replace(Arithmetic(), guard=guard)
    runner = WgpuRunner(WgpuBackend(device, arithmetic))
    memory = runner.backend.memory
    x, h, special = operands
    tests = {**_IDENTITIES, **_HARDWARE}
    out = memory.empty(len(tests) * x.size, x.dtype)
    arrays = {"x": memory.upload(x), "h": memory.upload(h), "special": memory.upload(special)}
    kernel = _kernel(kind, [test.build for test in tests.values()])
    runner.run([KernelRun(kernel, {**arrays, "out": out, "n": x.size}, (0, x.size))])
    rows = memory.download(out).reshape(len(tests), x.size)
    with np.errstate(all="ignore"):
        wanted = [np.asarray(test.expect(x, h, special), x.dtype) for test in tests.values()]
    memory.clear()
    return {
        name: float(np.mean(_same_bits(got, want)))
        for name, got, want in zip(tests, rows, wanted, strict=True)
    }


def _kernel(kind: str, builds: list[Callable[..., Value]]) -> Kernel:
    b = Builder()
    inputs = [b.buffer(name, kind) for name in ("x", "h", "special")]
    out, n = b.buffer("out", kind, written=True), b.scalar("n", "index")
    with b.lanes(0, n) as lanes:
        values = [b.load(buffer, lanes.i) for buffer in inputs]
        for number, build in enumerate(builds):
            b.store(out, n * number + lanes.i, build(b, *values))
    return b.finish()


def _operands(kind: str) -> tuple[Floats, ...]:
    """Ordinary numbers, small ones, and all kinds of special ones."""
    dtype, rng = _DTYPES[kind], np.random.default_rng(0)
    x = rng.uniform(1, 2, _COUNT).astype(dtype)
    h = (rng.uniform(1, 2, _COUNT) * 1e-6).astype(dtype)
    limits = np.finfo(dtype)
    numbers = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.tiny, limits.max, 1.5, -2.5]
    return x, h, np.resize(np.array(numbers, dtype), _COUNT)


def _same_bits(got: Floats, want: Floats) -> Floats:
    same = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
    return np.asarray(same | (np.isnan(got) & np.isnan(want)))


# -- the tests -----------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Test:
    """A formula as kernel code and in NumPy, of ordinary, small and special numbers."""

    build: Callable[..., Value]
    expect: Callable[..., Any]


def _shifter(kind: str) -> float:
    return 1.5 * 2.0 ** (23 if kind == "f32" else 52)


def _number(x: Floats, value: float) -> Any:
    """The number rounded to the type of ``x``."""
    return x.dtype.type(value)


def _rounded_by_shifting(_: Builder, x: Value, *__: Value) -> Value:
    return (x + _shifter(x.type)) - _shifter(x.type)


def _exact_fma(x: Floats, *_: Floats) -> Any:
    """``x (1 + 2**-12) - x``, of which rounding the product leaves half the digits."""
    return x * _number(x, 2.0**-12)


_IDENTITIES: dict[str, _Test] = {
    "a b - a c": _Test(
        lambda _k, x, *_: x * x - x * 1.1, lambda x, *_: x * x - x * _number(x, 1.1)
    ),
    "a c d": _Test(
        lambda _k, x, *_: x * 0.1 * 0.3, lambda x, *_: x * _number(x, 0.1) * _number(x, 0.3)
    ),
    "a + c + d": _Test(
        lambda _k, x, *_: x + 0.1 + 0.2, lambda x, *_: x + _number(x, 0.1) + _number(x, 0.2)
    ),
    "rounding by shifting": _Test(_rounded_by_shifting, lambda x, *_: np.rint(x)),
    "error of a sum": _Test(lambda _k, x, h, _: (x + h) - x, lambda x, h, _: (x + h) - x),
    "quotient of a constant": _Test(
        lambda _k, x, *_: (x / 3.0) * 3.0, lambda x, *_: (x / _number(x, 3)) * _number(x, 3)
    ),
    "difference with itself": _Test(lambda _k, _x, _h, s: s - s, lambda _x, _h, s: s - s),
    "product with zero": _Test(
        lambda _k, _x, _h, s: s * 0.0, lambda _x, _h, s: s * _number(s, 0.0)
    ),
    "zero minus zero": _Test(lambda _k, _x, _h, s: 0.0 - s, lambda _x, _h, s: _number(s, 0) - s),
    "sum with zero": _Test(lambda _k, _x, _h, s: s + 0.0, lambda _x, _h, s: s + _number(s, 0)),
    "NaN in a clamp": _Test(
        lambda k, _x, _h, s: clamp(k, s, 2.0),
        lambda _x, _h, s: np.clip(s, _number(s, -2), _number(s, 2)),
    ),
    "not less": _Test(
        lambda k, x, h, s: k.select(k.prim("xor", s < 1.0, True), x, h),
        lambda x, h, s: np.where(s < 1, h, x),
    ),
}
_HARDWARE: dict[str, _Test] = {
    "fma": _Test(lambda k, x, *_: k.fma(x, 1.0 + 2.0**-12, -x), _exact_fma),
    "division": _Test(lambda _k, x, h, _: h / x, lambda x, h, _: h / x),
    "sqrt": _Test(lambda k, x, *_: k.prim("sqrt", x), lambda x, *_: np.sqrt(x)),
    "subnormals": _Test(
        lambda _k, x, *_: x * _smallest(x.type) * 0.125,
        lambda x, *_: x * np.finfo(x.dtype).tiny * _number(x, 0.125),
    ),
}


def _smallest(kind: str) -> float:
    return float(np.finfo(_DTYPES[kind]).tiny)
