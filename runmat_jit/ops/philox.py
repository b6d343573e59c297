"""Random numbers by NumPy: what the rows of :mod:`runmat_jit.ops.random` mean."""

from __future__ import annotations

import math

import numpy as np

from runmat_jit.kernel.philox import MULTIPLIERS, ROUNDS, WEYL

Array = np.ndarray
Words = tuple[Array, Array, Array, Array]
_LOW = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_FIRST, _SECOND = map(np.uint64, MULTIPLIERS)


def philox4x32(counter: Words, key: tuple[Array, Array]) -> Words:
    """Four words of random bits; words are uint64 arrays of numbers below 2**32."""
    a, b, c, d = counter
    for number in range(ROUNDS):
        first, second = (
            (word + np.uint64(number * step)) & _LOW for word, step in zip(key, WEYL, strict=True)
        )
        one, other = a * _FIRST, c * _SECOND
        a, b = (other >> _WORD) ^ b ^ first, other & _LOW
        c, d = (one >> _WORD) ^ d ^ second, one & _LOW
    return a, b, c, d


def random_bits(index: Array, key: Array, counter: Array) -> Array:
    """64 random bits an element, as int64."""
    one, other = _halves(_block(index, key, counter, per_block=2))
    bits = np.where(_is_odd(index), other, one).view(np.int64)
    return _shaped(bits, index, key, counter)


def random_uniform(index: Array, key: Array, counter: Array, dtype: str) -> Array:
    """Numbers of [0, 1): multiples of 2**-24 (float32) or 2**-53 (float64)."""
    if dtype == "float64":
        bits = np.atleast_1d(random_bits(index, key, counter)).view(np.uint64)
        return _shaped((bits >> np.uint64(11)) * 2.0**-53, index, key, counter)
    words = _block(index, key, counter, per_block=4)
    word = np.choose(np.asarray(index) & 3, words)
    return _shaped((word >> np.uint64(8)) * 2.0**-24, index, key, counter).astype(dtype)


def random_normal(index: Array, key: Array, counter: Array, dtype: str) -> Array:
    """Normal numbers, two from each pair of draws (Box and Muller 1958)."""
    if dtype == "float64":
        radius, angle = _halves(_block(index, key, counter, per_block=2))
    else:
        words = _block(index, key, counter, per_block=4)
        later = _is_odd(np.asarray(index) >> 1)
        radius, angle = (np.where(later, words[j + 2], words[j]).astype(np.uint32) for j in (0, 1))
    size = np.log(open_uniform(radius, dtype), dtype=np.float64)
    sine = _sine_of_turns(angle, _is_odd(index), dtype)
    return _shaped(np.sqrt(-2 * size) * sine, index, key, counter).astype(dtype)


def random_bounded(bits: Array, last: Array) -> Array:
    """``floor(bits (last + 1) / 2**64)``, all int64 taken as unsigned."""
    a, b = (np.atleast_1d(x).view(np.uint64) for x in (bits, last))
    (a_high, a_low), (b_high, b_low) = ((x >> _WORD, x & _LOW) for x in (a, b))
    one, other = a_low * b_high, a_high * b_low
    carried = (a_low * b_low >> _WORD) + (one & _LOW) + (other & _LOW)
    high = a_high * b_high + (one >> _WORD) + (other >> _WORD) + (carried >> _WORD)
    total = high + (a * b + a < a)
    return _shaped(total.view(np.int64), bits, last)


def open_uniform(bits: Array, dtype: str) -> Array:
    """Numbers of (0, 1), from all bits but the lowest."""
    one = np.dtype(dtype).type(1)
    whole = (bits >> np.asarray(1, bits.dtype)).astype(dtype)
    u = (whole + one / 2) * np.dtype(dtype).type(2.0 ** (1 - 8 * bits.itemsize))
    return np.asarray(np.minimum(u, np.nextafter(one, one - one)))


def _sine_of_turns(angle: Array, odd: Array, dtype: str) -> Array:
    """The sine for odd elements, the cosine for even ones; a turn is all values of ``angle``."""
    width = 8 * angle.itemsize
    quarter = np.asarray(1 << (width - 2), angle.dtype)
    turned = np.where(odd, angle, angle + quarter)
    sign = (turned + quarter) & (quarter << np.asarray(1, angle.dtype))
    left = (turned ^ sign).view(f"i{angle.itemsize}").astype(dtype).astype(np.float64)
    return np.asarray(np.where(sign, -1.0, 1.0) * np.sin(left * (math.pi * 2.0 ** (1 - width))))


def _block(index: Array, key: Array, counter: Array, *, per_block: int) -> Words:
    number = np.atleast_1d(np.add(counter, np.floor_divide(index, per_block)))
    (low, high), keys = _words(number), _words(np.atleast_1d(key))
    zero = np.zeros(1, np.uint64)
    return philox4x32((low, high, zero, zero), keys)


def _words(number: Array) -> tuple[Array, Array]:
    bits = number.astype(np.int64).view(np.uint64)
    return bits & _LOW, bits >> _WORD


def _halves(words: Words) -> tuple[Array, Array]:
    return words[0] | words[1] << _WORD, words[2] | words[3] << _WORD


def _is_odd(index: Array) -> Array:
    return np.asarray(np.asarray(index) & 1 != 0)


def _shaped(values: Array, *operands: Array) -> Array:
    return values.reshape(np.broadcast_shapes(*map(np.shape, operands)))
