"""Extents that remember what they were computed from.

An ``Extent`` stands for an int, with a formula over the extents of a call's arguments. Arithmetic
on extents gives extents; what a comparison says is noted as a condition of their ``Scope``. Code
that computes with shapes therefore computes a formula for every shape that meets the conditions,
without knowing of it.

An extent is no int: what needs a real one (``range``, NumPy, text) asks ``__index__``, and from
then on the computation holds for this value alone, which is a condition too.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from runmat_jit.core.bounds import Condition, tightest


class Scope:
    """The symbols of one computation, its formulas, and the conditions under which they hold."""

    def __init__(self) -> None:
        self.symbols = 0
        self.formulas: dict[tuple[str, str, str], int] = {}
        """Each formula once: an operator's sign and its operands; the value is its number."""
        self.conditions: dict[Condition, None] = {}
        self._closed = False

    def symbol(self, value: int) -> int:
        """The next symbol, with its value in this computation."""
        self.symbols += 1
        return extent(value, f"s{self.symbols - 1}", self)

    def formula(self, sign: str, left: str, right: str) -> str:
        """The name of a formula, the same for the same operator and operands."""
        return f"f{self.formulas.setdefault((sign, left, right), len(self.formulas))}"

    def note(self, sign: str, left: str, right: str, *, holds: bool) -> None:
        """A condition that was looked at, and what was found."""
        if not self._closed:
            self.conditions[sign, left, right, holds] = None

    def close(self) -> None:
        """The computation is over: who looks at its numbers from now on decides nothing."""
        self._closed = True

    def name(self, number: int) -> str:
        """What a number is called in formulas; of an extent of another computation, its value."""
        if isinstance(number, Extent) and number.scope is self:
            return number.name
        value = operator.index(number)
        return repr(value) if value >= 0 else f"({value})"

    # -- other values of the symbols ---------------------------------------------------------------
    def values(self, symbols: Sequence[int]) -> dict[str, int] | None:
        """What each symbol and formula is for these symbols; None where a condition fails."""
        found = {f"s{number}": value for number, value in enumerate(symbols)}
        for sign, left, right, kept in _in_order(self.formulas, self.conditions):
            if isinstance(kept, bool):
                if _OPERATORS[sign](_value(left, found), _value(right, found)) is not kept:
                    return None
            else:
                found[f"f{kept}"] = _OPERATORS[sign](_value(left, found), _value(right, found))
        return found

    def moved(self, symbols: Sequence[int]) -> tuple[Scope, dict[str, int]]:
        """A scope of the same symbols with other values, and each name's extent in it.

        The values meet the conditions, which the new scope does not have.
        """
        scope = Scope()
        found = {f"s{number}": scope.symbol(value) for number, value in enumerate(symbols)}
        for (sign, left, right), number in self.formulas.items():
            found[f"f{number}"] = _OPERATORS[sign](_value(left, found), _value(right, found))
        return scope, found

    def lines(self, numbers: Iterable[int]) -> list[str]:
        """Python statements that compute these numbers; they return None where a condition fails.

        Names are those of ``name``; the symbols are taken to be there.
        """
        lines = []
        for sign, left, right, kept in self.steps(numbers):
            if isinstance(kept, bool):
                refuse = f"not {left} {sign} {right}" if kept else f"{left} {sign} {right}"
                lines.append(f"if {refuse}: return None")
            else:
                lines.append(f"f{kept} = {left} {sign} {right}")
        return lines

    def steps(self, numbers: Iterable[int]) -> Iterator[tuple[str, str, str, int | bool]]:
        """Formulas (with their numbers) and conditions (with what must be found), in order.

        Those that these numbers need, and that tell whether all conditions hold.
        """
        return _in_order(self._needed(numbers), tightest(self.conditions))

    def function(self, numbers: Iterable[int]) -> Callable[..., tuple[int, ...] | None]:
        """A function of the symbols' values: these numbers, or None where a condition fails."""
        numbers = tuple(numbers)
        # Names first: an extent of another computation is looked at, which is a condition there.
        names = f"({''.join(f'{self.name(n)}, ' for n in numbers)})"
        text = [f"def numbers({', '.join(f's{n}' for n in range(self.symbols))}):"]
        text += [f"    {line}" for line in (*self.lines(numbers), f"return {names}")]
        found: dict[str, Any] = {}
        exec(_code("\n".join(text)), found)  # noqa: S102  (numbers and operators, written above)
        return cast("Callable[..., tuple[int, ...] | None]", found["numbers"])

    def _needed(self, numbers: Iterable[int]) -> dict[tuple[str, str, str], int]:
        """The formulas that these numbers and the conditions are computed from."""
        wanted = {self.name(number) for number in numbers}
        for _, left, right, _ in self.conditions:
            wanted |= {left, right}
        needed = {}
        for parts, number in reversed(self.formulas.items()):
            if f"f{number}" in wanted:
                needed[parts] = number
                wanted |= set(parts[1:])
        return dict(reversed(needed.items()))


@lru_cache(maxsize=1000)  # a memo of a pure question: many functions have equal conditions
def _code(text: str) -> types.CodeType:
    return compile(text, "<extents>", "exec")


def _in_order(
    formulas: Mapping[tuple[str, str, str], int], conditions: Iterable[Condition]
) -> Iterator[tuple[str, str, str, int | bool]]:
    """Formulas (with their numbers) and conditions (with what was found), each after its own.

    A condition comes before the formulas that were made after its operands: it may be what keeps
    them from dividing by zero.
    """
    tests: dict[int, list[Condition]] = {}
    for condition in conditions:
        tests.setdefault(max(_age(condition[1]), _age(condition[2])), []).append(condition)
    yield from tests.get(-1, ())
    for (sign, left, right), number in formulas.items():
        yield sign, left, right, number
        yield from tests.get(number, ())


def _age(name: str) -> int:
    """The number of a formula, which grows as they are made; -1 for symbols and constants."""
    return int(name[1:]) if name.startswith("f") else -1


def _value(name: str, values: Mapping[str, int]) -> int:
    """What a name stands for; constants are their own names."""
    found = values.get(name)
    return int(name.strip("()")) if found is None else found


class Extent:
    """A number with the name of its formula in a scope."""

    __slots__ = ("name", "scope", "value")

    def __init__(self, value: int, name: str, scope: Scope) -> None:
        self.value, self.name, self.scope = value, name, scope

    def __index__(self) -> int:
        self.scope.note("==", self.name, repr(self.value), holds=True)
        return self.value

    __int__ = __index__

    def __float__(self) -> float:
        return float(operator.index(self))

    def __hash__(self) -> int:
        return id(self.scope)  # all extents meet in a dict, where __eq__ notes what it finds

    def __bool__(self) -> bool:
        self.scope.note("==", self.name, "0", holds=self.value == 0)
        return self.value != 0

    def __pos__(self) -> Extent:
        return self

    def __neg__(self) -> Any:
        number: Any = self
        return 0 - number

    def __abs__(self) -> Any:
        number: Any = self
        return -number if number < 0 else number

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return operator.index(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / operator.index(self)

    def bit_length(self) -> int:
        """As of an int; the value is looked at."""
        return operator.index(self).bit_length()

    def __format__(self, spec: str) -> str:
        return format(operator.index(self), spec)

    def __str__(self) -> str:
        return str(operator.index(self))

    def __repr__(self) -> str:
        return f"{self.name}={self.value}"

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (operator.index(self),)


def extent(value: int, name: str, scope: Scope) -> int:
    """An extent, which type checkers take for the int that it stands for."""
    return cast("int", Extent(value, name, scope))


def plain(number: int) -> int:
    """The value of a number, without a condition: for what holds for every value."""
    return number.value if isinstance(number, Extent) else number


def _arithmetic(sign: str, function: Callable[[int, int], int]) -> tuple[Any, Any]:
    def computed(left: Any, right: Any, scope: Scope) -> int:
        name = scope.formula(sign, scope.name(left), scope.name(right))
        return extent(function(plain(left), plain(right)), name, scope)

    def forward(self: Extent, other: Any) -> Any:
        if isinstance(other, float):
            return function(operator.index(self), other)  # type: ignore[arg-type]  # a float again
        if not isinstance(other, int | Extent):
            return NotImplemented
        if isinstance(other, Extent):
            return computed(self, other, self.scope)
        if other == _NEUTRAL.get(sign):
            return self
        return 0 if other == 0 and sign == "*" else computed(self, other, self.scope)

    def backward(self: Extent, other: Any) -> Any:
        if isinstance(other, float):
            return function(other, operator.index(self))  # type: ignore[arg-type]  # likewise
        if not isinstance(other, int):
            return NotImplemented
        if sign in "+*":
            return forward(self, other)
        if other == 0 and sign != "-" and bool(self):
            return 0
        return computed(other, self, self.scope)

    return forward, backward


def _comparison(sign: str, function: Callable[[Any, Any], bool]) -> Any:
    def compare(self: Extent, other: Any) -> Any:
        if isinstance(other, float):
            return function(operator.index(self), other)
        if not isinstance(other, int | Extent):
            return NotImplemented
        holds = function(self.value, plain(cast("int", other)))
        left, right = self.name, self.scope.name(cast("int", other))
        if left != right:
            self.scope.note(sign, left, right, holds=holds)
        return holds

    return compare


_NEUTRAL: Final = {"+": 0, "-": 0, "*": 1, "//": 1}
_ARITHMETIC: Final = {"add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "%"}
_COMPARISONS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OPERATORS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    sign: getattr(operator, name) for name, sign in (*_ARITHMETIC.items(), *_COMPARISONS.items())
}


def _install() -> None:
    for name, sign in _ARITHMETIC.items():
        forward, backward = _arithmetic(sign, getattr(operator, name))
        setattr(Extent, f"__{name}__", forward)
        setattr(Extent, f"__r{name}__", backward)
    for name, sign in _COMPARISONS.items():
        setattr(Extent, f"__{name}__", _comparison(sign, getattr(operator, name)))


_install()
