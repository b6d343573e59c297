"""Numbers in files as bytes: ``fread`` and ``fwrite``."""

from __future__ import annotations

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.streams import machine_of, stream_of
from matlab_frontend.engine import NumpyEngine
from matlab_frontend.errors import MatlabError
from matlab_frontend.pattern import pattern
from matlab_frontend.rounding import saturate
from matlab_frontend.streams import STANDARD, Stream
from matlab_frontend.values.array import Array, Value
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import empty, wrap
from matlab_frontend.values.read import integer_of, is_text, known, number_of, text_of
from runmat_jit.core.frozen import frozen

_CLASSES = {
    **{kind: kind for kind in DTYPES if kind not in ("string", "logical")},
    **dict.fromkeys(("uchar", "unsigned char"), "uint8"),
    **dict.fromkeys(("schar", "signed char", "integer*1"), "int8"),
    **dict.fromkeys(("short", "integer*2"), "int16"),
    **dict.fromkeys(("ushort", "unsigned short"), "uint16"),
    **dict.fromkeys(("int", "integer*4"), "int32"),
    **dict.fromkeys(("uint", "unsigned int"), "uint32"),
    **dict.fromkeys(("long", "integer*8"), "int64"),
    **dict.fromkeys(("ulong", "unsigned long"), "uint64"),
    **dict.fromkeys(("float", "float32", "real*4"), "single"),
    **dict.fromkeys(("float64", "real*8"), "double"),
    "char*1": "char",
}
"""MATLAB's classes by the names that precisions have."""
_MOST = 3
"""Arguments behind the data: precision, skip, and the machine's format."""
_PRECISION = pattern(r"(?:(\d+)\*)?(\*?)([a-zA-Z0-9* ]+?)\s*(?:=>\s*([a-z0-9*]+))?")


@frozen
class Precision:
    """What a number is in a file, what it becomes, and after how many bytes are skipped."""

    stored: str
    made: str
    block: int = 1


def precision_of(shown: str) -> Precision:
    """Read ``'uint8'``, ``'*int16'``, ``'uint8=>char'``, ``'3*single'``.

    Raises:
        MatlabError: it is no precision, or one of single bits.

    """
    found = _PRECISION.fullmatch(shown.strip())
    block, same, stored, made = found.groups() if found else ("", "", "", "")
    kind = _CLASSES.get((stored or "").strip())
    wanted = kind if same else "double" if not made else _CLASSES.get(made)
    if kind is None or wanted is None:
        message = f"Invalid precision '{shown}'; fields of bits are not supported."
        raise MatlabError("MATLAB:FileIO:InvalidPrecision", message)
    return Precision(kind, wanted, int(block or 1))


def _dtype(precision: Precision, machine: str) -> np.dtype:
    dtype = np.dtype(np.uint8) if precision.stored == "char" else DTYPES[precision.stored]
    return dtype.newbyteorder(">" if machine == "ieee-be" else "<")


def _arguments(
    call: Call, machine: str, given: tuple[Value, ...]
) -> tuple[Precision, int, np.dtype]:
    """Precision, bytes to skip and dtype of the last arguments of ``fread`` and ``fwrite``."""
    if len(given) > _MOST:
        raise MatlabError("MATLAB:maxrhs", "Too many input arguments.")
    shown, skip, order = (*given, None, None, None)[:_MOST]
    precision = precision_of("uint8" if shown is None else text_of(shown))
    if order is not None:
        machine = machine_of(text_of(order))
    skipped = 0 if skip is None else integer_of(call.engine, skip)
    if skipped < 0:
        raise MatlabError("MATLAB:FileIO:InvalidSkip", "Skip must be a nonnegative integer.")
    return precision, skipped, _dtype(precision, machine)


@builtin("fread")
def fread(call: Call, identifier: Value, *given: Value) -> tuple[Value, ...]:
    """Numbers from the bytes of a file, and how many."""
    stream = stream_of(call, identifier)
    has_size = bool(given) and not is_text(given[0])
    size, options = (given[0], given[1:]) if has_size else (float("inf"), given)
    form, skipped, dtype = _arguments(call, stream.machine, options)
    extents = known(call.engine, size).ravel().astype(float).tolist()
    if not 1 <= len(extents) <= 2 or any(not x >= 0 for x in extents):
        raise MatlabError("MATLAB:FileIO:InvalidSize", "Size must hold one or two counts.")
    wanted = float(np.prod(extents)) if 0 not in extents else 0.0
    if form.stored == "char" and not skipped:
        numbers = _characters(stream, wanted)
    else:
        numbers = _numbers(stream, wanted, dtype, form.block, skipped)
    return _shaped(numbers, extents, form.made), float(numbers.size)


def _characters(stream: Stream, wanted: float) -> np.ndarray:
    """The codes of so many characters."""
    start = stream.file.tell()
    left = stream.decode(stream.read_bytes())
    if wanted < len(left):
        left = left[: int(wanted)]
        stream.seek(start + len(left.encode(stream.encoding, "replace")), 0)
    return np.frombuffer(left.encode("utf-16-le", "surrogatepass"), np.uint16)


def _numbers(
    stream: Stream, wanted: float, dtype: np.dtype, block: int, skipped: int
) -> np.ndarray:
    """So many numbers, bytes skipped after each block of them."""
    if not skipped:
        data = stream.read_bytes(int(wanted) * dtype.itemsize if np.isfinite(wanted) else -1)
        return np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
    parts: list[bytes] = []
    count = 0
    while count < wanted:
        data = stream.read_bytes(int(min(block, wanted - count)) * dtype.itemsize)
        whole = len(data) // dtype.itemsize
        parts.append(data[: whole * dtype.itemsize])
        count += whole
        if stream.at_end:
            break
        stream.file.seek(skipped, 1)
    return np.frombuffer(b"".join(parts), dtype)


def _shaped(numbers: np.ndarray, extents: list[float], kind: str) -> Value:
    """Numbers as a column, or column by column in the asked size, filled with zeros."""
    if not numbers.size:
        return Array("char", np.zeros((0, 0), np.uint16)) if kind == "char" else empty()
    data = numbers.astype(DTYPES[kind])
    if len(extents) < 2:
        return wrap(kind, data.reshape(1, -1))
    rows = int(extents[0]) if np.isfinite(extents[0]) else data.size
    columns = -(-data.size // rows)
    filled = np.zeros(rows * columns, data.dtype)
    filled[: data.size] = data
    return wrap(kind, filled.reshape(columns, rows))


@builtin("fwrite")
def fwrite(call: Call, identifier: Value, x: Value, *given: Value) -> Value:
    """Write the elements of an array as bytes; gives how many numbers were written."""
    numbers = known(call.engine, x)
    if numbers.dtype == object:
        raise MatlabError("MATLAB:FileIO:InvalidData", "Strings cannot be written as numbers.")
    standard = not is_text(identifier) and number_of(call.engine, identifier) in (1.0, 2.0)
    stream = None if standard else stream_of(call, identifier)
    form, skipped, dtype = _arguments(call, "ieee-le" if stream is None else stream.machine, given)
    data = _saturated(numbers.ravel(order="F"), dtype)
    if stream is None:
        codes = "".join(map(chr, data.tolist())) if dtype.itemsize == 1 else data.tobytes().decode()
        error = number_of(call.engine, identifier) == STANDARD[2]
        (call.session.write_error if error else call.session.write)(codes)
        return float(data.size)
    if form.stored == "char":
        codes = numbers.astype(np.uint16).ravel(order="F").tobytes().decode("utf-16-le", "replace")
        written = stream.write_bytes(codes.encode(stream.encoding, "replace"))
    elif skipped:
        written = _write_apart(stream, data, form.block, skipped)
    else:
        written = stream.write_bytes(data.tobytes())
    return float(data.size if written else 0)


def _saturated(numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Numbers rounded and kept within the range of a class of integers."""
    if dtype.kind not in "iu" or numbers.dtype.kind not in "fiu":
        return numbers.astype(dtype)
    info = np.iinfo(dtype)
    if numbers.dtype.kind == "f":
        return np.asarray(saturate(NumpyEngine(), numbers, dtype))
    below, above = numbers < info.min, numbers > info.max
    made = np.where(below | above, 0, numbers).astype(dtype)
    made[below], made[above] = info.min, info.max
    return made


def _write_apart(stream: Stream, data: np.ndarray, block: int, skipped: int) -> bool:
    """Write blocks of numbers, bytes skipped before each."""
    for at in range(0, data.size, block):
        here = stream.file.tell()
        end = stream.file.seek(0, 2)
        stream.file.seek(min(here, end))
        missing = max(here + skipped - end, 0)
        stream.file.seek(end if missing else here + skipped)
        written = stream.write_bytes(bytes(missing) + data[at : at + block].tobytes())
        if not written:
            return False
    return True
