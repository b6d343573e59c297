"""Extents of arrays as formulas of what a loop is given: one value each, known before it begins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, Final, Literal

from runmat_jit.core.frozen import frozen
from runmat_jit.core.slotted import slotted
from runmat_jit.kernel.build import Builder
from runmat_jit.kernel.ir import Instruction, Value

Source = Literal["extent", "number", "literal"]
_DERIVED: Final = 1 << 40
"""Numbers of extents from here on are of no operand's axis."""
SINGLE: Final = 0
"""The number of all extents that are known to be 1."""


@frozen
class Dim:
    """``ceil(max(0, base - less) / step)``.

    The base is the extent of this ``number`` (see :class:`.forms.ArrayForm`), the operand that is
    an integer, or the number itself.
    """

    source: Source
    number: int
    less: int = 0
    step: int = 1

    def part(self, less: int, step: int) -> Dim | None:
        """The extent of a slice that leaves out so many elements, and takes every so manyth."""
        if self.step != 1:
            return self if (less, step) == (0, 1) else None
        return Dim(self.source, self.number, self.less + less, step)


Places = Mapping[tuple[Source, int], tuple[int, int]]
"""Where extents are found: the operand, and its axis."""
ONE: Final = Dim("literal", 1)


@slotted
class Extents:
    """The extents that a kernel knows; ``entry`` are the instructions that compute them."""

    k: Builder
    bases: dict[tuple[Source, int], Value] = field(default_factory=dict)
    """Values of extents of operands, and of operands that are integers."""
    places: dict[tuple[Source, int], tuple[int, int]] = field(default_factory=dict)
    """Where they are found: the operand, and its axis."""
    entry: list[Instruction] = field(default_factory=list)
    values: dict[Dim, Value] = field(default_factory=dict)
    numbers: dict[Dim, int] = field(default_factory=dict)
    products: dict[tuple[Dim, ...], Value] = field(default_factory=dict)

    def value(self, dim: Dim) -> Value:
        """The extent, an index."""
        found = self.values.get(dim)
        if found is None:
            found = self.values[dim] = self._computed(dim)
        return found

    def number(self, dim: Dim) -> int:
        """Equal for equal extents (see :class:`.values.Axis`)."""
        if dim == ONE:
            return SINGLE
        if dim.source == "extent" and not dim.less and dim.step == 1:
            return dim.number
        return self.numbers.setdefault(dim, _DERIVED + len(self.numbers))

    def product(self, dims: Sequence[Dim]) -> Value:
        """Elements of an array, computed before the loop."""
        key = tuple(dims)
        if key not in self.products:
            values = [self.value(dim) for dim in dims]
            with self.before():
                found = self.k.const(1, "index")
                for value in values:
                    found = value if found.literal == 1 else found * value
            self.products[key] = found
        return self.products[key]

    @contextmanager
    def before(self) -> Iterator[None]:
        """Emit what is computed before the loop."""
        stack = self.k.open_body()
        yield
        self.k.close_body(stack)
        self.entry.extend(stack)

    def _computed(self, dim: Dim) -> Value:
        k = self.k
        if dim.source == "literal":
            return k.const(evaluated(dim, {}, ()), "index")
        base = self.bases[dim.source, dim.number]
        if not dim.less and dim.step == 1 and dim.source == "extent":
            return base
        with self.before():
            if base.type != "index":
                base = k.convert("sext", base, "index")
            value = base - dim.less if dim.less else base
            value = k.select(value < 0, 0, value)
            if dim.step != 1:
                value = k.prim("sdiv", value + (dim.step - 1), dim.step)
        return value


def evaluated(dim: Dim, places: Places, given: Sequence[Any]) -> int:
    """The extent, for operands that are ``given`` as numbers, or as shapes of arrays."""
    if dim.source == "literal":
        base = dim.number
    else:
        operand, axis = places[dim.source, dim.number]
        value = given[operand]
        base = value[axis] if dim.source == "extent" else int(value)
    return -(-max(0, base - dim.less) // dim.step)


def shapes(operands: Sequence[Any]) -> list[Any]:
    """The shapes of arrays among operands, and the numbers."""
    return [getattr(value, "shape", value) or value for value in operands]


def shape_of(dims: Sequence[Dim], places: Places, given: Sequence[Any]) -> tuple[int, ...]:
    """The shape of an array with these extents, for such operands."""
    return tuple([evaluated(dim, places, given) for dim in dims])
