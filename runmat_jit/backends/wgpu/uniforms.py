"""The uniform block of a shader: numbers of one launch."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from runmat_jit.backends.wgpu.facts import Facts
from runmat_jit.core.frozen import frozen
from runmat_jit.kernel.ir import Kernel, Literal, Scalar

Key = str | tuple[str, str]
"""Where a number comes from: a scalar's name, or one of what follows."""

FIRST, END = ("part", "lo"), ("part", "hi")
"""Fields of every block: the part ``[lo, hi)`` of the parallel axis."""


def origin_of(buffer: str) -> Key:
    """The key of a buffer's origin."""
    return "origin", buffer


_WGSL = {"f32": "f32", "i32": "i32", "index": "i32", "i1": "u32", "f64": "f64", "i64": "i64"}
_CODES = {"f32": "f", "i32": "i", "index": "i", "i1": "I", "f64": "d", "i64": "q"}


@frozen
class Field:
    """One number; ``name`` is what the shader calls it."""

    name: str
    type: str
    key: Key


@frozen
class UniformBlock:
    """Fields in the order of memory: wide ones first, so that nothing is padded but the end."""

    fields: tuple[Field, ...]

    @property
    def text(self) -> str:
        """The declaration of the block as ``P``."""
        fields = ", ".join(f"{f.name}: {_WGSL[f.type]}" for f in self.fields)
        return f"struct Params {{ {fields} }}\n@group(0) @binding(0) var<uniform> P: Params;"

    @property
    def nbytes(self) -> int:
        """Size, a multiple of 16 bytes."""
        return -(-struct.calcsize(self._format) // 16) * 16

    def pack(self, numbers: Mapping[Key, Literal]) -> bytes:
        """The block's memory.

        Raises:
            OverflowError: A value does not fit its field: an extent of more than 31 bits.

        """
        values: list[float | int] = []
        for each in self.fields:
            number = numbers[each.key]
            values.append(float(number) if each.type in ("f32", "f64") else int(number))
        try:
            packed = struct.pack(self._format, *values)
        except struct.error as error:
            raise OverflowError(f"{values} do not fit {self._format}") from error
        return packed.ljust(self.nbytes, b"\0")

    @property
    def places(self) -> tuple[tuple[int, str, str], ...]:
        """Offsets in bytes of the scalars, their types and names."""
        codes = [_CODES[each.type] for each in self.fields]
        return tuple(
            [
                (struct.calcsize("<" + "".join(codes[:n])), each.type, each.key)
                for n, each in enumerate(self.fields)
                if isinstance(each.key, str)
            ]
        )

    @property
    def _format(self) -> str:
        return "<" + "".join(_CODES[f.type] for f in self.fields)


def put(memory: bytearray, offset: int, kind: str, number: Literal) -> None:
    """Put a number of a type into the memory of blocks."""
    value = float(number) if kind in ("f32", "f64") else int(number)
    struct.pack_into("<" + _CODES[kind], memory, offset, value)


def uniform_block(kernel: Kernel, facts: Facts) -> UniformBlock:
    """The block of a kernel: its scalars, and the origins of buffers that have one."""
    fields = [Field("lo", "index", FIRST), Field("hi", "index", END)]
    for number, parameter in enumerate(kernel.parameters):
        if isinstance(parameter, Scalar):
            fields.append(Field(f"s{number}", parameter.type, parameter.name))
        elif parameter.name in facts.shifted:
            fields.append(Field(f"o{number}", "index", origin_of(parameter.name)))
    fields.sort(key=lambda field: field.type not in ("f64", "i64"))
    return UniformBlock(tuple(fields))
