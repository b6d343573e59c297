"""``x * 2**n`` with one rounding, by AVX-512's own instruction or by two multiplications."""

from __future__ import annotations

from runmat_jit.backends.llvm.emitter import LLVM_TYPES, Emitter, literal, splat_literal
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.primitives import SIZES


@frozen
class _Format:
    """An IEEE format: an exponent n with ``low <= n <= high`` makes a normal power of two."""

    integer: str
    fraction_bits: int
    low: int
    high: int


_FORMATS = {"f32": _Format("i32", 23, -126, 127), "f64": _Format("i64", 52, -1022, 1023)}


def scale2(emitter: Emitter, x: str, n: str, kind: str, *, lane: bool) -> str:
    """Text of ``x * 2**n`` for one operand.

    Clamps ``n`` to twice the exponent range, then multiplies by the part of ``2**n`` beyond the
    range of normal powers first and by the rest last. Upwards both are exact. Downwards the first
    product can be inexact only where the last factor is the smallest normal power, which takes
    it to zero either way; so there is one rounding, as in AVX-512's ``vscalef``.
    """
    if lane and emitter.target.has("avx512vl") and emitter.width * SIZES[kind] in (16, 32, 64):
        return _scalef(emitter, x, n, kind)
    form = _FORMATS[kind]
    limit = -2.0 * form.low
    n = _bounded(emitter, n, kind, (-limit, limit), lane=lane)
    last = _bounded(emitter, n, kind, (float(form.low), float(form.high)), lane=lane)
    vector = emitter.vector(kind) if lane else LLVM_TYPES[kind]
    first = emitter.put(f"fsub {vector} {n}, {last}")
    for exponent in (first, last):
        power = _power_of_two(emitter, exponent, kind, lane=lane)
        x = emitter.put(f"fmul {vector} {x}, {power}")
    return x


def _scalef(emitter: Emitter, x: str, n: str, kind: str) -> str:
    bits = 8 * emitter.width * SIZES[kind]
    vector = emitter.vector(kind)
    name = f"llvm.x86.avx512.mask.scalef.{'ps' if kind == 'f32' else 'pd'}.{bits}"
    mask = f"i{max(emitter.width, 8)}"
    args = [(vector, x), (vector, n), (vector, "zeroinitializer"), (mask, "-1")]
    if bits == 512:
        args.append(("i32", "4"))  # round as everything else does
    return emitter.put(emitter.call(name, vector, args))


def _bounded(
    emitter: Emitter, n: str, kind: str, bounds: tuple[float, float], *, lane: bool
) -> str:
    """``n`` between two bounds; NaN becomes a bound, since its conversion has no meaning."""
    vector = emitter.vector(kind) if lane else LLVM_TYPES[kind]
    mask = emitter.vector("i1") if lane else "i1"
    constant = splat_literal if lane else literal
    for compare, bound in zip(("ogt", "olt"), bounds, strict=True):
        text = constant(bound, kind)
        inside = emitter.put(f"fcmp {compare} {vector} {n}, {text}")
        n = emitter.put(f"select {mask} {inside}, {vector} {n}, {vector} {text}")
    return n


def _power_of_two(emitter: Emitter, exponent: str, kind: str, *, lane: bool) -> str:
    """``2**exponent`` of a whole float, whose bits are the biased exponent and no fraction.

    Adding ``1.5 * 2**fraction_bits`` leaves the whole number in the low bits of the sum: cheaper
    than a conversion, which AVX2 lacks for doubles. Shifting drops what lies above them.
    """
    form = _FORMATS[kind]
    constant = splat_literal if lane else literal
    vector = emitter.vector(kind) if lane else LLVM_TYPES[kind]
    integers = emitter.vector(form.integer) if lane else LLVM_TYPES[form.integer]
    magic = 1.5 * 2.0**form.fraction_bits + form.high
    biased = emitter.put(f"fadd {vector} {exponent}, {constant(magic, kind)}")
    bits = emitter.put(f"bitcast {vector} {biased} to {integers}")
    shift = constant(form.fraction_bits, form.integer)
    return emitter.put(
        f"bitcast {integers} {emitter.put(f'shl {integers} {bits}, {shift}')} to {vector}"
    )
