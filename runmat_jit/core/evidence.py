"""Work of a function's calls, estimated from its code and its arguments.

Work is counted in calls of NumPy on a few elements (see :mod:`runmat_jit.core.prices`), never in
seconds: two runs of a program compile the same functions at the same calls. It follows from the
bytecode or source, the sizes of arrays, and integers, which are sizes or numbers of iterations.
"""

from __future__ import annotations

import dis
import functools
import opcode
import types
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

import numpy as np

from runmat_jit.core.frames import call_of
from runmat_jit.core.hotness import ELEMENTS, FEW, OFTEN
from runmat_jit.core.prices import LOOPS_PAY, OPERATIONS, RECORDING_PAYS
from runmat_jit.core.source import looks_at_frames

FUNCTIONS: Final = 16
"""Functions of the program whose code is counted with that of the function that calls them."""
ITEMS: Final = 32
"""Items of a container, or attributes of an object, that are looked at."""
MOST_ITERATIONS: Final = 1_000_000
"""Iterations that an integer argument stands for at most: it may be a seed or an address."""
FULL_NESTS: Final = 32
"""One nest of loops in so many is thought to run over all pairs, as of points: others do not."""
MOST_OF_WHILE: Final = 4096
"""Iterations of a ``while`` at most, where no number and no array says how many there are."""
SIZE_OF_INTEGER: Final = 100_000
"""Elements that an integer argument stands for at most where no argument is an array."""
MOST_DOUBLINGS: Final = 10
"""Times that the price of the next recording is doubled at most."""
GAP: Final = 255
"""Calls in a row at most that are counted without a look at their arguments."""


def _numbers_of(*names: str) -> frozenset[int]:
    return frozenset(opcode.opmap[name] for name in names if name in opcode.opmap)


_COMPUTING: Final = _numbers_of("BINARY_OP", "COMPARE_OP", "UNARY_NEGATIVE", "UNARY_INVERT")
"""Instructions that may compute with whole arrays."""
_OTHERS: Final = _numbers_of(
    *("BINARY_SUBSCR", "BINARY_SLICE", "STORE_SUBSCR", "STORE_SLICE"),
    *("CALL", "CALL_KW", "CALL_FUNCTION_EX"),
)
"""Instructions that take as long as a call, whatever is called."""
_NAMING: Final = _numbers_of("LOAD_ATTR", "LOAD_METHOD", "LOAD_GLOBAL", "LOAD_DEREF")
_FUNCTIONS: Final = (np.ufunc, types.FunctionType, types.BuiltinFunctionType, type(np.sum))
_METHODS: Final = types.MethodDescriptorType
_EXTENTS: Final = frozenset(("shape", "size", "len"))
NUMPYS: Final = frozenset(
    (
        *(name for name, value in vars(np).items() if isinstance(value, _FUNCTIONS)),
        *(name for name, value in vars(np.ndarray).items() if isinstance(value, _METHODS)),
        *("norm", "solve", "inv", "det", "eigh", "svd", "qr", "cholesky", "lstsq"),
        *("fft", "ifft", "rfft", "irfft", "fft2", "ifft2"),
        *("normal", "standard_normal", "uniform", "random", "integers", "permutation", "choice"),
    )
) - {"shape", "size", "ndim", "copy", "item", "tolist", "fill"}
"""Names of functions and methods that compute with whole arrays."""


class Instructions(NamedTuple):
    """Instructions of a function that take long, by the number of loops around them."""

    by_depth: tuple[tuple[int, int], ...]
    """Counts of those that may compute with whole arrays, and of others, for each depth."""
    names: tuple[str, ...]
    """Globals and attributes that are read."""
    integers: tuple[int, ...]
    """Constants that may be numbers of iterations."""
    has_loops: bool
    """True if it has loops of its own, not in functions or comprehensions."""
    has_while: bool
    """True if one of them may run for any time."""


@functools.lru_cache(maxsize=1024)  # a memo of a pure question
def code_of(code: types.CodeType) -> Instructions:
    """Instructions of a code object, and of those defined in it."""
    counts: list[list[int]] = []
    ends: list[int] = []
    loops, starts = _loops(code), set[int]()
    for instruction in dis.get_instructions(code):
        offset = instruction.offset
        starts |= {offset} if instruction.opname == "FOR_ITER" else set()
        ends = [end for end in ends if offset <= end]
        ends += loops.get(offset, [])
        named = instruction.opcode in _NAMING and instruction.argval in NUMPYS
        computes = named or instruction.opcode in _COMPUTING
        if computes or instruction.opcode in _OTHERS:
            _count(counts, len(ends), (computes, not computes))
    if loops:
        deepest = max(
            sum(start <= at <= end for start, ends in loops.items() for end in ends) for at in loops
        )
        _count(counts, deepest, (0, 0))
    names, integers = list(code.co_names), list[int]()
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            inner = code_of(const)
            for level, numbers in enumerate(inner.by_depth):
                _count(counts, level, numbers)
            names += inner.names
            integers += inner.integers
        elif type(const) is int and const > 1:
            integers.append(const)
    by_depth = tuple((computing, others) for computing, others in counts)
    unique, has_while = tuple(dict.fromkeys(names)), not loops.keys() <= starts
    return Instructions(by_depth, unique, tuple(integers), bool(loops), has_while)


def _count(counts: list[list[int]], level: int, numbers: Sequence[int]) -> None:
    counts += [[0, 0] for _ in range(level + 1 - len(counts))]
    counts[level][0] += numbers[0]
    counts[level][1] += numbers[1]


def _loops(code: types.CodeType) -> dict[int, list[int]]:
    """Offsets at which loops begin, with those of the jumps back to them that are farthest."""
    found: dict[int, int] = {}
    for instruction in dis.get_instructions(code):
        name = instruction.opname
        if "JUMP_BACKWARD" in name and "NO_INTERRUPT" not in name:
            start = int(instruction.argval)
            found[start] = max(found.get(start, 0), instruction.offset)
    return {start: [end] for start, end in found.items()}


class Work:
    """Estimates the work of calls of one function.

    ``fn``: a Python function; the functions of its module, and the methods of its first argument,
    that it calls are counted with it.
    """

    def __init__(self, fn: types.FunctionType, receiver: Any = None) -> None:
        codes = [code_of(each.__code__) for each in _called(fn, receiver)]
        counts = [[0, 0]]
        for each in codes:
            for level, numbers in enumerate(each.by_depth):
                _count(counts, level, numbers)
        self.by_depth = counts
        self.code = weakref.ref(fn.__code__)
        self.has_native_loops = False  # in plain calls: their work is not counted
        self.has_loops = any(each.has_loops for each in codes)
        self._has_extents = any(_EXTENTS & {*each.names} for each in codes)
        self._has_while = any(each.has_while for each in codes)
        self._counts = any("range" in each.names for each in codes)
        """True if loops may run over a range of integers."""
        self._outside = Sizes()
        for name in codes[0].names:
            self._outside.add_outside(fn.__globals__.get(name))
        defaults = (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values())
        own = [value for value in defaults if type(value) is int and value > 1]
        self._own = (*own, *(codes[0].integers if len(counts) > 1 else ()))
        """Defaults and constants that may be numbers of iterations."""
        for cell in fn.__closure__ or ():
            with suppress(ValueError):  # it has no value yet
                self._outside.add_outside(cell.cell_contents)

    def of(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any], *, calls: int = 0
    ) -> tuple[int, int]:
        """Work of a call: a low estimate and a high one; ``calls``: before it.

        They differ by what loops do: an iteration may compute with single numbers or with arrays.
        """
        sizes = Sizes()
        for value in (*args, *kwargs.values()):
            sizes.add(value)
        outside = self._outside
        elements = max(sizes.elements, outside.elements)
        if not elements and sizes.integers:
            elements = min(max(sizes.integers), SIZE_OF_INTEGER)
        operation = 1 + elements // ELEMENTS
        computing, others = self.by_depth[0]
        whole = 0
        if (calls > OFTEN or operation > OFTEN) and not self.has_native_loops:
            from runmat_jit.core.array_work import work_of_call  # noqa: PLC0415  (few need it)

            large = operation > (1 if calls > OFTEN * OFTEN else OFTEN) and len(self.by_depth) > 1
            whole = work_of_call(self.code(), args, kwargs, NUMPYS, large=large)
        least = most = max(computing * operation + others, whole)
        if len(self.by_depth) == 1:
            return least, most
        extents = {*sizes.extents, *outside.extents}
        counted = [n for n in (*sizes.integers, *self._own) if n not in extents]
        steps = [*counted, *(n for n in outside.integers if n not in extents)]
        counted = counted if self._counts else []
        listed = max(sizes.length, outside.length)
        of_arrays = min(sizes.lengths or outside.lengths, default=0) if self._counts else 0
        few = min(max(counted) if counted else listed or of_arrays or FEW, MOST_ITERATIONS)
        longest = max(steps or [listed, *extents])
        many = min(max(longest, few, MOST_OF_WHILE * self._has_while), MOST_ITERATIONS)
        extent = max(extents, default=0) * self._has_extents
        limit = max(sizes.elements, outside.elements) or MOST_ITERATIONS
        for depth, (computing, others) in enumerate(self.by_depth[1:], 1):
            times = min(few**depth, max(few, limit))
            least += (computing + others) * times // OPERATIONS
            times = min(many**depth, max(many, limit))
            times = max(times, min(extent**depth, limit) // (1 if depth == 1 else OFTEN))
            times = max(times, min(extent**depth // FULL_NESTS, 2 * MOST_ITERATIONS))
            most += (computing * (operation if steps or not elements else 1) + others) * times
        return max(least, whole), max(least, whole, most)


class Ledger:
    """Work that the plain calls of a session have done, and work that recordings have cost.

    Functions that get hot at the same time are compiled one after the other.
    """

    def __init__(self) -> None:
        self.earned = self.spent = 0


class Evidence:
    """Work that a function has done as plain Python, which decides when it is compiled.

    Most calls are counted without a look at their arguments: one in :data:`GAP` is looked at, more
    of the first ones. Functions of one code share it: a function that is made anew at each call of
    another is known.
    """

    def __init__(self) -> None:
        self.calls = self.least = self.most = 0
        self.functions = self.made = 0
        """Decorated functions with the code; those made since the last look."""
        self.spent = self.fruitless = 0
        """Work that recordings have cost so far; how many in a row no replay has repeated."""
        self.ledger = Ledger()
        """Ledger of the session."""
        self._asked = self._unpaid = self._replayed = 0
        self.work: Work | None = None
        self.shows_frames = False
        """True if a function that it calls asks for frames: no frame of ours may be among them."""
        self.recurs = False
        """True if a call may be within another one."""
        self._last = 0, 0
        self.gap = 0
        """Calls until the next look."""

    def add(
        self, fn: types.FunctionType, calls: int, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> int:
        """Count calls, the last of them with these arguments; give those until the next look."""
        if fn is call_of:
            fn, args = args[0], args[1:]
        work = self.work
        if work is None or work.code() is not fn.__code__:
            receiver = args[0] if args else None
            work, self.recurs = Work(fn, receiver), recurs(fn, receiver)
            codes = [each.__code__ for each in _called(fn, receiver)]
            self.work, self.shows_frames = work, any(map(looks_at_frames, codes))
        found = work.of(args, kwargs, calls=self.calls)
        before = calls - 1
        least = found[0] + before * min(found[0], self._last[0])
        self.least += least
        self.ledger.earned += least
        self.most += found[1] + before * min(found[1], self._last[1])
        self._last = found
        self.calls += calls
        missing = max(self.price - self.least, self.ledger.spent - self.ledger.earned)
        left = missing // max(1, found[0])
        self.gap = max(0, min(self.calls, GAP, left))
        return self.gap

    @property
    def price(self) -> int:
        """Work after which the function is recorded, for the first time or again."""
        return RECORDING_PAYS + self.spent

    def spend(self, price: int, *, repeats: bool) -> None:
        """Count a recording: another one has to be earned, and after vain ones more than that."""
        self.ledger.spent += price
        self.fruitless = 0 if repeats else self.fruitless + 1
        self.spent = self.least - RECORDING_PAYS + (price << min(self.fruitless, MOST_DOUBLINGS))

    @property
    def wants_loops(self) -> bool:
        """True if the loops of the function may have run long enough to be compiled."""
        return self.work is not None and self.work.has_loops and self.most >= LOOPS_PAY

    @property
    def pays(self) -> bool:
        """True if the function has run for as long as recording and compiling it takes."""
        can = self.ledger.earned >= self.ledger.spent
        return bool(self._asked) or (can and self.least >= self.price)

    def others(self) -> int:
        """Return how many functions, but one, were made since the last look, and called."""
        found, self.made = self.made - 1, 0
        return max(0, found) if self.is_made_anew else 0

    @property
    def is_made_anew(self) -> bool:
        """True if functions with the code are made again and again, each for a few calls."""
        return self.functions >= OFTEN and self.calls <= OFTEN * self.functions

    def is_idle(self, replayed: int) -> bool:
        """Count a call that is not worth recording: True after some without a replay in between."""
        self._unpaid = self._unpaid + 1 if replayed == self._replayed else 1
        self._replayed = replayed
        return not self._unpaid % OFTEN

    @contextmanager
    def asked(self) -> Iterator[None]:
        """Within the block somebody wants a recording, whatever it costs."""
        self._asked += 1
        try:
            yield
        finally:
            self._asked -= 1


class Sizes:
    """Sizes among the arguments of a call, or in what it reads from outside."""

    __slots__ = ("elements", "extents", "integers", "length", "lengths")

    def __init__(self) -> None:
        self.elements = self.length = 0
        """Size of the largest array; length of the longest list."""
        self.integers: list[int] = []
        self.extents: set[int] = set()
        self.lengths: set[int] = set()
        """Extents of the first axes of arrays."""

    def add(self, value: Any, depth: int = 2) -> None:
        """Take in an argument, and the values in it."""
        kind = type(value)
        if kind is np.ndarray:
            self.elements = max(self.elements, value.size)
            self.extents.update(value.shape)
            if value.ndim and len(value) > 1:
                self.lengths.add(len(value))
        elif kind is int:
            if value > 1:
                self.integers.append(value)
        elif not depth or kind in _LEAVES:
            return
        elif kind is list or kind is tuple:
            self.length = max(self.length, len(value))
            for item in value[:2]:
                self.add(item, depth - 1)
        elif kind is dict:
            self._add_values(value, depth - 1)
        else:
            self._add_attributes(value, depth - 1)

    def add_outside(self, value: Any) -> None:
        """Take in a value from outside: an array, a number, a container of them."""
        if type(value) in _SIZED:
            self.add(value, 1)

    def _add_attributes(self, value: Any, depth: int) -> None:
        try:
            attributes = object.__getattribute__(value, "__dict__")
        except (AttributeError, TypeError):
            return
        if type(attributes) is dict:
            self._add_values(attributes, depth)

    def _add_values(self, values: dict[Any, Any], depth: int) -> None:
        with suppress(RuntimeError):  # another thread adds to it
            for value in [value for value, _ in zip(values.values(), range(ITEMS), strict=False)]:
                self.add(value, depth)


_LEAVES: Final = frozenset(
    (*(float, complex, bool, str, bytes, type(None), type, range, slice), types.ModuleType),
)
_SIZED: Final = frozenset((np.ndarray, int, list, tuple, dict))
DATA: Final = frozenset(
    (np.ndarray, int, float, complex, bool, str, type(None), np.float64, np.ufunc, types.ModuleType)
)
"""Classes of arrays, numbers and constants."""


def recurs(fn: types.FunctionType, receiver: Any) -> bool:
    """True if a function may call itself, perhaps through others of its module or class."""
    methods = {} if receiver is None else vars(type(receiver))
    seen, waiting = set[types.CodeType](), [fn.__code__]
    while waiting and len(seen) < FUNCTIONS:
        code = waiting.pop()
        for name in names_in(code):
            inner = _code_behind(fn.__globals__.get(name, methods.get(name)))
            if inner is fn.__code__ or name == fn.__name__:
                return True
            if inner is not None and inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return len(seen) >= FUNCTIONS


def _code_behind(value: Any) -> types.CodeType | None:
    """Code of a function, decorated or not; None of anything else, of which nothing is asked."""
    if type(value).__name__ == "JitFunction":
        value = vars(value).get("__wrapped__")
    return value.__code__ if type(value) is types.FunctionType else None


def names_in(code: types.CodeType) -> Iterator[str]:
    """Names that a function reads from outside, or of attributes; those in it included."""
    yield from (*code.co_names, *code.co_freevars)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from names_in(const)


def _called(fn: types.FunctionType, receiver: Any) -> list[types.FunctionType]:
    """A function, and the undecorated ones of its module or of its class that it calls."""
    found, waiting = [fn], [fn]
    methods = {} if receiver is None else vars(type(receiver))
    while waiting and len(found) < FUNCTIONS:
        caller = waiting.pop()
        for name in caller.__code__.co_names:
            value: Any = caller.__globals__.get(name, methods.get(name))
            is_own = type(value) is types.FunctionType and value.__globals__ is fn.__globals__
            if is_own and value not in found:
                found.append(value)
                waiting.append(value)
    return found[:FUNCTIONS]
