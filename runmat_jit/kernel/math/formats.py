"""The two float formats as numbers, for code that works on their bits."""

from __future__ import annotations

import struct

from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Value


@frozen
class Format:
    """An IEEE binary format; ``integer`` is the integer type of the same width."""

    integer: str
    width: int
    fraction: int
    """Bits of the stored fraction."""

    @property
    def bias(self) -> int:
        """Exponent field of 1.0."""
        return (1 << (self.width - self.fraction - 2)) - 1

    @property
    def sign(self) -> int:
        """The sign bit, as the integer type's smallest number."""
        return -(1 << (self.width - 1))

    @property
    def infinity(self) -> int:
        """Bits of positive infinity: all of the exponent field."""
        return (2 * self.bias + 1) << self.fraction

    @property
    def smallest_normal_bits(self) -> int:
        """Bits of the smallest positive normal number."""
        return 1 << self.fraction

    @property
    def smallest_normal(self) -> float:
        """The smallest positive normal number."""
        return 2.0 ** (1 - self.bias)

    @property
    def integral(self) -> float:
        """The power of two from which on all numbers are whole: 2**24 or 2**53."""
        return 2.0 ** (self.fraction + 1)

    @property
    def shifter(self) -> float:
        """1.5 * 2**fraction: a small whole number added to it appears in the lowest bits."""
        return 1.5 * 2.0**self.fraction


FORMATS = {"f32": Format("i32", 32, 23), "f64": Format("i64", 64, 52)}


def format_of(x: Value) -> Format:
    """The format of a float value."""
    return FORMATS[x.type]


def format_of_bits(bits: Value) -> tuple[str, Format]:
    """The float type as wide as an integer value, and its format."""
    kind = {"i32": "f32", "i64": "f64"}[bits.type]
    return kind, FORMATS[kind]


def bits_of(k: Builder, x: Value) -> Value:
    """The bits of a float as an integer of its width."""
    return k.convert("bitcast", x, format_of(x).integer)


def float_of(k: Builder, bits: Value) -> Value:
    """The float with these bits."""
    return k.convert("bitcast", bits, format_of_bits(bits)[0])


def sign_bit(k: Builder, x: Value) -> Value:
    """The sign bit of a float alone, as an integer of its width."""
    return bits_of(k, x) & format_of(x).sign


def xor_sign(k: Builder, x: Value, sign: Value) -> Value:
    """The float with its sign flipped where the sign bit of ``sign`` is set."""
    return float_of(k, bits_of(k, x) ^ (sign & format_of(x).sign))


def whole_bits(k: Builder, n: Value, offset: int = 0) -> Value:
    """An integer whose low bits are those of ``n + offset``, for a whole float ``n``.

    Meaningful up to ``2**(fraction - 1)``, harmless beyond; one addition, no conversion.
    """
    return bits_of(k, n + (format_of(n).shifter + offset))


def is_positive_normal(k: Builder, bits: Value) -> Value:
    """True if a float with these bits is positive, normal and finite."""
    _, format_ = format_of_bits(bits)
    span = format_.infinity - format_.smallest_normal_bits
    return k.prim("ult", bits - format_.smallest_normal_bits, span)


def not_(k: Builder, condition: Value) -> Value:
    """The opposite of a condition."""
    return k.prim("xor", condition, True)


def nearest(number: float, kind: str) -> float:
    """The number rounded to the format."""
    return float(struct.unpack("<f", struct.pack("<f", number))[0]) if kind == "f32" else number
