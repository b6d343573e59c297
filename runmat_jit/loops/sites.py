"""The loops of a session, each made once; how much work one is."""

from __future__ import annotations

import ast
import math
import types
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import numpy as np

from runmat_jit.core.hotness import LOOKS
from runmat_jit.core.locks import new_lock
from runmat_jit.core.prices import ELEMENTS, OPERATIONS
from runmat_jit.loops.attributes import Objects
from runmat_jit.loops.program import LISTS, LoopCall, Reads, Services
from runmat_jit.loops.returns import Loop
from runmat_jit.loops.source import Chain, Given, LoopSource, OfProgram, chain_of

MOST: Final = 1024
"""Loops that are known; replays know their own."""
TURNS: Final = 64
"""Iterations that a loop is taken to have where nobody knows."""
LONGEST_HEAD: Final = 1 << 20
"""Iterations of a compiled ``while`` in Python, before it is asked again."""
OF_ARRAYS, OF_NUMBERS = 4, 10
"""Times as many operations as Python runs in the time of a native call that is not recorded."""
CALLED: Final = 12
"""Operations of Python's that take as long as a function of NumPy's or a method, at least."""
REDUCED: Final = 40
"""The same of reductions and of functions that are written in Python."""
_REDUCTIONS: Final = frozenset(
    (
        *("sum", "mean", "std", "var", "prod", "max", "min", "any", "all", "argmax", "argmin"),
        *("median", "percentile", "quantile", "cross", "norm", "solve", "inv", "det", "isclose"),
        *("allclose", "average", "diff", "trapezoid", "polyval", "interp", "roll", "outer"),
    )
)
_OPERATIONS: Final = (
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.Subscript, ast.Call, ast.AugAssign, ast.BoolOp),
)


class Loops:
    """The loops of a session that may run natively."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._calls: dict[Any, LoopCall] = {}
        self._lock = new_lock()

    def call(self, source: LoopSource, name: str, reads: Reads) -> LoopCall:
        """The loop that reads this (arguments as of :class:`LoopCall`)."""
        inner = [value for helper in reads.helpers.values() for value in helper.values.values()]
        alike = tuple(map(identity, (*reads.objects.values(), *inner)))
        key = source, reads.operands, tuple(reads.objects), alike
        found = self._calls.get(key)
        if found is None:
            with self._lock:
                if len(self._calls) >= MOST:
                    self._calls.clear()
                made = LoopCall(source, name, reads, self.services)
                found = self._calls.setdefault(key, made)
        return found

    def forget(self) -> None:
        """Begin anew with every loop, as in another process."""
        self._calls.clear()

    def report(self, source: LoopSource) -> str:
        """Return whether a loop runs natively, or the construct that keeps it in Python."""
        reports = [call.report() for call in self.calls_of(source)]
        return reports[-1] if reports else "not run by itself"

    def calls_of(self, source: LoopSource) -> list[LoopCall]:
        """Return what runs a loop, for each combination of what it reads from outside."""
        return [call for key, call in list(self._calls.items()) if key[0] is source]


def identity(value: Any) -> Any:
    """Equal for objects that mean the same in a loop: functions of one code, equal numbers."""
    if type(value) is types.FunctionType:
        return value.__code__
    if type(value) in (bool, int, float, complex, tuple):
        return type(value), repr(value)
    return value if isinstance(value, Given | OfProgram | Objects) else id(value)


def value_of(
    objects: Mapping[Chain, Any],
    operands: Mapping[Chain, Any],
    plain_of: Callable[[Any], Any],
    chain: Chain,
) -> Any:
    """Return what is known of an operand, a number or a shape; that of a list is its length."""
    of = objects.get(chain)
    return plain_of(operands.get(of.attributes[0].chain if type(of) is Objects else chain))


def operations_of(
    source: LoopSource, number: Callable[[ast.expr], int | None], operation: int = 1
) -> int:
    """Estimate the work of an iteration, in operations of Python's on scalars.

    ``number`` evaluates an expression; ``operation`` is the work of an operator.
    """
    return sum(_work(child, number, operation) for child in ast.iter_child_nodes(source.node))


def _work(node: ast.AST, number: Callable[[ast.expr], int | None], operation: int) -> int:
    inner = sum(_work(child, number, operation) for child in ast.iter_child_nodes(node))
    if isinstance(node, ast.For | ast.While):
        turns = turns_of(node, number)
        return (TURNS if turns is None else turns) * inner
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        counts = [_items_of(each.iter, number) for each in node.generators]
        return inner * math.prod([TURNS if count is None else count for count in counts])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return inner + _work_of_call(node.func)
    return inner + operation * isinstance(node, _OPERATIONS)


def _work_of_call(function: ast.Attribute) -> int:
    """Operations of Python's that take as long as a call of a method, or of a module's function."""
    chain = chain_of(function)
    if function.attr == "append" or (chain is not None and chain.name == "math"):
        return 1
    return REDUCED if function.attr in _REDUCTIONS else CALLED


def turns_of(loop: Loop, number: Callable[[ast.expr], int | None]) -> int | None:
    """The iterations of a loop, unless something ends it early; None: nobody knows."""
    return _items_of(loop.iter, number) if isinstance(loop, ast.For) else None


def _items_of(iterated: ast.expr, number: Callable[[ast.expr], int | None]) -> int | None:
    """Items of a range, of an array, or of a part of one."""
    if isinstance(iterated, ast.Subscript) and isinstance(iterated.slice, ast.Slice):
        return _items_of_slice(_items_of(iterated.value, number), iterated.slice, number)
    if not (isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name)):
        return number(ast.Call(ast.Name("len", ast.Load()), [iterated], []))
    if iterated.func.id == "range":
        bounds = [number(arg) for arg in iterated.args]
        if None in bounds or not bounds or len(bounds) > 3 or (len(bounds) == 3 and not bounds[2]):
            return None
        return len(range(*(bound for bound in bounds if bound is not None)))
    counts = [_items_of(arg, number) for arg in iterated.args]
    return min([count for count in counts if count is not None], default=None)


def _items_of_slice(
    count: int | None, part: ast.Slice, number: Callable[[ast.expr], int | None]
) -> int | None:
    """Items of a slice of so many; where bounds are not known, no fewer than where nothing is."""
    begin, end = [None if each is None else number(each) for each in (part.lower, part.upper)]
    step = 1 if part.step is None else number(part.step)
    if count is None or not step:
        return None
    found = len(range(count)[begin:end:step])
    pairs = (part.lower, begin), (part.upper, end)
    known = all(bound is None or value is not None for bound, value in pairs)
    return found if known else max(TURNS, found)


def evaluated(node: ast.expr, value: Callable[[Chain], Any]) -> int | None:
    """The integer that an expression of names, lengths and extents is now; None: another one.

    ``value`` gives an operand: a number, or the shape of an array.
    """
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name):
            found = value(Chain(name))
            return int(found) if type(found) is int or isinstance(found, np.integer) else None
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name() | ast.Attribute() as of]):
            chain = chain_of(of)
            shape = None if chain is None else value(chain)
            return shape[0] if type(shape) is tuple and shape else None
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
            slice=ast.Constant(value=int(axis)),
        ):
            shape = value(Chain(name))
            known = type(shape) is tuple and -len(shape) <= axis < len(shape)
            return shape[axis] if known else None
        case ast.Attribute(value=ast.Name(id=name), attr="size"):
            shape = value(Chain(name))
            return math.prod(shape) if type(shape) is tuple else None
        case ast.BinOp(left=left, op=op, right=right):
            a, b = evaluated(left, value), evaluated(right, value)
            if a is None or b is None:
                return None
            if isinstance(op, ast.Add):
                return a + b
            if isinstance(op, ast.Sub):
                return a - b
            if isinstance(op, ast.Mult):
                return a * b
            return a // b if isinstance(op, ast.FloorDiv) and b else None
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            a = evaluated(operand, value)
            return None if a is None else -a
    return None


def plain_of(value: Any) -> Any:
    """A number, or the shape of an array."""
    return getattr(value, "shape", None) if isinstance(value, np.ndarray) else value


def is_enough(
    call: LoopCall,
    operands: dict[Chain, Any],
    plain_of: Callable[[Any], Any] = plain_of,
    *,
    recorded: bool = False,
    unknown: int = 0,
    counted: bool = False,
) -> bool:
    """Return True if Python would take longer than a native run; rarely looks at an iteration.

    ``plain_of`` gives an operand's number or shape. ``recorded``: or the operations would, recorded
    one by one. ``unknown``: iterations of the last run, for a loop of unknown length; ``counted``:
    those of the next run are counted in Python, so that no more need be expected.
    """
    value = partial(value_of, call.objects, operands, plain_of)
    known = partial(evaluated, value=value)
    call.asked += 1
    if call.asked & (call.asked - 1) == 0 or not call.asked % LOOKS:
        call.per_turn = operations_of(call.source, known)
        call.per_turn_of_arrays = operations_of(call.source, known, OPERATIONS)
    turns = turns_of(call.source.node, known)
    if turns is None:  # of lists, many until runs of few have been seen
        many = TURNS * (LISTS if call.source.grown else 1)
        turns = unknown if counted else max(unknown, many)
    call.expected_turns, call.expected = turns, turns * call.per_turn
    if call.gave_up or (call.is_poor and call.asked % LOOKS):
        return False
    if not recorded:
        turns = _weighed(call, operands, turns)
    return call.does_enough(turns, recorded=recorded)


def iterations_enough(call: LoopCall, operands: dict[Chain, Any]) -> int:
    """Return the iterations with which a native run takes less than Python; 0 if none is tried."""
    if call.gave_up or call.is_poor:
        return 0
    counts = (1 << n for n in range(20))
    return next((n for n in counts if call.does_enough(_weighed(call, operands, n))), LONGEST_HEAD)


def _weighed(call: LoopCall, operands: dict[Chain, Any], turns: int) -> int:
    """Iterations that take a recorded loop as long as these take Python."""
    if call.source.grown:
        return turns
    sizes = [each.size for each in operands.values() if isinstance(each, np.ndarray)]
    if call.weight > 1 and sizes:  # all operations may be of the smallest array, one of others
        least, unit = min(sizes), 4 * ELEMENTS
        others = OPERATIONS * (sum(sizes) - len(sizes) * least) // unit
        turns *= 1 + least // unit + others // max(1, call.per_turn_of_arrays)
    return turns // (OF_ARRAYS if sizes else OF_NUMBERS)
