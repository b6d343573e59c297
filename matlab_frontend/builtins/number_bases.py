"""Digits of whole numbers in a base, and numbers from digits."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Value
from matlab_frontend.values.make import text_rows, wrap
from matlab_frontend.values.read import integer_of, known, lines_of

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@builtin("dec2bin")
def dec2bin(call: Call, x: Value, width: Value = 0.0) -> Value:
    """Binary digits of whole numbers, a row each; negative ones as two's complement."""
    return _digits(call, x, 2, width)


@builtin("dec2hex")
def dec2hex(call: Call, x: Value, width: Value = 0.0) -> Value:
    """Hexadecimal digits of whole numbers, a row each; negative ones as two's complement."""
    return _digits(call, x, 16, width)


@builtin("dec2base")
def dec2base(call: Call, x: Value, base: Value, width: Value = 0.0) -> Value:
    """Digits of whole numbers in a base from 2 to 36, a row each."""
    return _digits(call, x, _base(call, base), width)


def _base(call: Call, base: Value) -> int:
    number = integer_of(call.engine, base, "The base")
    if not 2 <= number <= len(_DIGITS):
        raise MatlabError("MATLAB:dec2base:base", "A base is a whole number from 2 to 36.")
    return number


def _digits(call: Call, x: Value, base: int, width: Value) -> Value:
    numbers = [_whole(item) for item in known(call.engine, x).ravel(order="F")]
    if base not in (2, 16) and any(number < 0 for number in numbers):
        raise MatlabError("MATLAB:dec2base:FirstArg", "Numbers must not be negative.")
    shown = [_written(_unsigned(number), base) for number in numbers]
    longest = max([integer_of(call.engine, width), *map(len, shown)])
    return text_rows([digits.rjust(longest, "0") for digits in shown])


def _whole(item: float) -> int:
    if item != int(item):
        raise MatlabError("MATLAB:dec2bin:MustBeInteger", "Numbers must be whole.")
    return int(item)


def _unsigned(number: int) -> int:
    """Negative numbers as the two's complement of the smallest class that holds them."""
    bits = next((n for n in (8, 16, 32, 64) if number >= -(1 << (n - 1))), 64)
    return number if number >= 0 else number + (1 << bits)


def _written(number: int, base: int) -> str:
    digits = ""
    while number or not digits:
        number, digit = divmod(number, base)
        digits = _DIGITS[digit] + digits
    return digits


@builtin("bin2dec")
def bin2dec(_: Call, x: Value) -> Value:
    """Numbers from binary digits."""
    return _from_digits(x, 2)


@builtin("hex2dec")
def hex2dec(_: Call, x: Value) -> Value:
    """Numbers from hexadecimal digits."""
    return _from_digits(x, 16)


@builtin("base2dec")
def base2dec(call: Call, x: Value, base: Value) -> Value:
    """Numbers from digits in a base from 2 to 36."""
    return _from_digits(x, _base(call, base))


def _from_digits(x: Value, base: int) -> Value:
    try:
        numbers = [float(int(line.replace(" ", ""), base)) for line in lines_of(x)]
    except ValueError as error:
        raise MatlabError(
            "MATLAB:base2dec:InvalidInput", f"The text holds a digit beyond base {base}."
        ) from error
    return wrap("double", np.array(numbers).reshape(1, -1))
