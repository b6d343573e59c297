"""Records array operations in the graph that decorated functions use; computes where MATLAB looks.

Recorded values are the tracer's: each knows its dtype and shape at once, and is computed together
with everything else that is pending when the program displays, branches, indexes by it or returns
it. Operations on small arrays alone are NumPy's, at once: a program that runs once would wait
longer for the compiler than for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from matlab_frontend.draws import Draw, record
from matlab_frontend.engine import Adapter, Key, NumpyEngine, Operand
from matlab_frontend.values.array import Data
from runmat_jit.core.prices import ELEMENTS
from runmat_jit.core.types import COMPILED_DTYPES

if TYPE_CHECKING:
    from runmat_jit.capture.record.tracer import Tracer
    from runmat_jit.core.source import SourceLine
    from runmat_jit.loops.sites import Loops
    from runmat_jit.random import Generator

Where: TypeAlias = "Callable[[], SourceLine | None]"

SMALL: Final = 8 * ELEMENTS
"""Elements below which an array by itself is not worth recording."""


class LazyEngine:
    """An engine over one recording, which begins with the first large array.

    Args:
        make_tracer: Begins the recording.
        small: Arrays of fewer elements are recorded only beside recorded ones.
        find_adapter: The device that the recording computes on, if arrays can be kept there.
        find_loops: What makes loops run natively, if something does.

    """

    def __init__(
        self,
        make_tracer: Callable[[Where], Tracer],
        small: int = SMALL,
        find_adapter: Callable[[], Adapter | None] = lambda: None,
        find_loops: Callable[[], Loops | None] = lambda: None,
    ) -> None:
        self.make_tracer, self.small = make_tracer, small
        self.adapter = cache(find_adapter)
        self.loops = cache(find_loops)
        self.now = NumpyEngine()
        self.repeats = 0
        self._keys: set[Hashable] = set()
        self._last_keys: set[Hashable] = set()
        self._where: Where = _nowhere
        self._place: Callable[[], Hashable] = _nowhere
        self._tracer: Tracer | None = None

    @property
    def tracer(self) -> Tracer:
        """The recording."""
        if self._tracer is None:
            self._tracer = self.make_tracer(self._where)
        return self._tracer

    # -- operations ------------------------------------------------------------------------------
    def apply(self, row: str, *operands: Operand) -> Data:
        recorded = self._recorded
        for operand in operands:
            if recorded(operand):
                break
        else:
            return self.now.apply(row, *operands)
        return self._lift_all(getattr(np, row), *self._numbers(operands))

    def reduce(self, row: str, data: Data, axes: tuple[int, ...], **given: int) -> Data:
        if not self._recorded(data):
            return self.now.reduce(row, data, axes, **given)
        if row in _WORST and self.adapter() is not None:  # on the host NumPy's one is faster
            return self._extreme(row, data, axes)
        function = _REDUCTIONS.get(row)
        if function is None:  # a reduction by a binary row that is none of its own
            return self.now.reduce(row, self.look(data), axes, **given)
        return self._call(function, data, axis=axes, keepdims=True, **given)

    def accumulate(self, row: str, data: Data, axis: int) -> Data:
        return self.now.accumulate(row, self.look(data), axis)

    def cast(self, data: Data, dtype: np.dtype) -> Data:
        return data if data.dtype == dtype else self._method("astype", data, dtype)

    def reshape(self, data: Data, shape: tuple[int, ...]) -> Data:
        if type(data) is np.ndarray:
            return np.reshape(data, shape)
        return self._call(np.reshape, data, shape)

    def permute(self, data: Data, axes: tuple[int, ...]) -> Data:
        if not self._recorded(data):
            return self.now.permute(data, axes)
        return self._method("copy", self._call(np.transpose, data, axes))

    def broadcast(self, data: Data, shape: tuple[int, ...]) -> Data:
        large = np.prod(shape) >= self.small and data.dtype in COMPILED_DTYPES
        if not self._recorded(data) and not large:
            return self.now.broadcast(data, shape)
        return self._method("copy", self._lift_all(np.broadcast_to, data, shape))

    def concatenate(self, parts: Sequence[Data], axis: int) -> Data:
        if not any(map(self._recorded, parts)):
            return self.now.concatenate(parts, axis)
        if self.repeats and not self._repeats((self._place(), *(part.shape for part in parts))):
            return self.now.concatenate([self.look(part) for part in parts], axis)
        lifted = [self._lift(part) for part in parts]
        return self.tracer.call(np.concatenate, (lifted, axis), {})

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype) -> Data:
        if dtype.kind not in "bif" or np.prod(shape) < self.small:
            return self.now.full(shape, self._plain(value), dtype)
        return self._lift_all(np.full, shape, value, dtype)

    def arange(self, count: int, start: float, step: float) -> Data:
        if count < self.small:
            return self.now.arange(count, start, step)
        steps = self.tracer.call(np.arange, (count,), {"dtype": np.float64})
        return self.apply("add", self.apply("multiply", steps, step), start)

    def draw(self, generator: Generator, draw: Draw) -> Data:
        if math.prod(draw.shape) < max(self.small, 1):
            return self.now.draw(generator, draw)
        return record(self.tracer, generator, draw)

    def take(self, data: Data, key: Key) -> Data:
        slices = all(type(part) is slice for part in key)
        if slices and type(data) is np.ndarray:
            part = data[key]
            if part.size < self.small:
                return part.copy()
        if slices and self._recorded(data) and self._stays(data, key):
            return self._method("copy", self._lift(data)[key])
        return self.now.take(self.look(data), tuple(map(self._plain, key)))

    def put(self, data: Data, key: Key, value: Operand, *, exclusive: bool) -> Data:
        recorded = self._recorded(data) or self._recorded(value)
        slices = all(type(part) is slice for part in key)
        if recorded and slices and self._stays(data, key):
            target = self._lift(data)
            if not (exclusive and self.tracer.writable(target)):
                target = self._method("copy", target)
            target[key] = self._lift(value)
            return target
        real = self.look(data)
        exclusive = exclusive and real is data
        mesh = tuple(map(self._plain, key))
        return self.now.put(real, mesh, self._plain(value), exclusive=exclusive)

    def matmul(self, a: Data, b: Data) -> Data:
        return self._call(np.matmul, a, b)

    def host(self, function: Callable[..., Any], *operands: Operand) -> Any:
        return function(*map(self._plain, operands))

    # -- looks -------------------------------------------------------------------------------------
    def look(self, data: Data) -> np.ndarray:
        return np.asarray(self._plain(data))

    def is_nonnegative(self, data: Data) -> bool:
        if type(data) is np.ndarray:
            return self.now.is_nonnegative(data)
        from runmat_jit.capture.record.signs import sign_of  # noqa: PLC0415  (a recording has begun)

        if sign_of(self.tracer.pending, data):
            return True
        least = self._call(np.min, self.apply("fmin", data, np.inf)) if data.size else 0.0
        return bool(self._plain(least) >= 0)  # NaN is no negative number

    def has_nan(self, data: Data) -> bool:
        if not self._recorded(data):
            return self.now.has_nan(data)
        return bool(self._plain(self._call(np.any, self.apply("isnan", data))))

    def computes_now(self, data: Data) -> bool:
        return type(data) is np.ndarray and data.size < self.small

    def owns_memory(self, data: Data) -> bool:
        if type(data) is np.ndarray:
            return self.now.owns_memory(data)
        from runmat_jit.capture.record.traced import owns_memory  # noqa: PLC0415  (a recording has begun)

        return owns_memory(data)

    def settle(self, data: Data, count: int) -> Data:
        few = count < max(self.small, 2) and (count == 1 or self.repeats)
        return self.look(data) if few and not (count > 1 and self.is_pending(data)) else data

    # -- devices -----------------------------------------------------------------------------------
    def keep(self, data: Data) -> Data:
        if self.adapter() is None or data.dtype not in COMPILED_DTYPES:
            return data
        from runmat_jit.array import ProgramBoundary  # noqa: PLC0415  (programs for GPUs)
        from runmat_jit.capture.record.traced import stays  # noqa: PLC0415  (likewise)
        from runmat_jit.runtime.arrays import adopted  # noqa: PLC0415  (likewise)

        self.tracer.begin_boundary(ProgramBoundary)
        if not self._recorded(data) or (type(data) is not np.ndarray and stays(data)):
            return data
        return self.tracer.lift(adopted(np.array(self.look(data), order="C"), "gpu"))

    # -- where the program is ----------------------------------------------------------------------
    @property
    def recording(self) -> bool:
        return self._tracer is not None

    def is_pending(self, data: Data) -> bool:
        return type(data) is not np.ndarray and self.tracer.is_pending(data)

    def follow(self, line: Where, place: Callable[[], Hashable]) -> None:
        self._where, self._place = line, place

    @contextmanager
    def repeating(self) -> Iterator[Callable[[], None]]:
        """Each step of a loop is computed by itself: all steps then share one compiled program."""
        self._flush()
        outer = self._keys, self._last_keys
        self._keys, self._last_keys = set(), set()
        self.repeats += 1
        try:
            yield self._lap
        finally:
            self.repeats -= 1
            self._keys, self._last_keys = outer

    def _lap(self) -> None:
        if self._keys or self._last_keys:
            self._keys, self._last_keys = set(), self._keys
        self._flush()

    def _flush(self) -> None:
        if self._tracer is not None:
            self._tracer.flush()

    def explain(self) -> str:
        if self._tracer is None:
            return self.now.explain()
        from runmat_jit.compiler.explain import Explanation  # noqa: PLC0415  (rare)
        from runmat_jit.compiler.region_report import reports_of  # noqa: PLC0415  (likewise)

        ran = self._tracer.programs
        programs = list({id(program): program for program in ran}.values())
        note = f"{len(programs)} compiled programs ran {len(ran)} times"
        notes = (note,) if len(programs) < len(ran) else ()
        reports = tuple(reports_of(programs))
        mode = "recorded, computed where it looks"
        return f"{Explanation('program', mode, reports, (), notes)}\n"

    # -- inside ----------------------------------------------------------------------------------
    def _recorded(self, value: Any) -> bool:
        """True if operations on a value are recorded: it is itself, or it is large."""
        if type(value) is np.ndarray:  # text, cells and small integers stay NumPy's
            return value.size >= self.small and value.dtype in COMPILED_DTYPES
        if type(value) is float:
            return False
        return type(value).__name__ == "Traced"  # the class is loaded with the first recording

    def _stays(self, data: Data, key: Key) -> bool:
        """True if slices of an array are worth recording: in a loop, those that stay in place.

        Slices that the expression did not use in the step before move through the array. Each would
        be a program of its own, so that they are taken from known arrays, as small parts are.
        """
        if not self.repeats:
            return True
        slices = ((part.start, part.stop, part.step) for part in key)
        if not self._repeats((self._place(), data.shape, *slices)):
            return False
        extents = [len(range(n)[part]) for n, part in zip(data.shape, key, strict=True)]
        return math.prod(extents) >= self.small or self.is_pending(data)

    def _repeats(self, what: Hashable) -> bool:
        """True if the step of the loop before did the same; else it would be another program."""
        self._keys.add(what)
        return what in self._last_keys

    def _call(self, fn: Any, *operands: Any, **options: Any) -> Any:
        """A NumPy function: recorded if an operand is, else computed now."""
        if not any(map(self._recorded, operands)):
            return fn(*operands, **options)
        return self._lift_all(fn, *operands, **options)

    def _extreme(self, row: str, data: Data, axes: tuple[int, ...]) -> Data:
        """The largest or smallest elements, NaN among NaN only: two reductions that are rows."""
        largest = np.max if row == "fmax" else np.min
        known = self.apply(row, data, _WORST[row])
        found = self._call(largest, known, axis=axes, keepdims=True)
        missing = self._call(np.all, self.apply("isnan", data), axis=axes, keepdims=True)
        return self._lift_all(np.where, missing, data.dtype.type(np.nan), found)

    def _numbers(self, operands: Sequence[Operand]) -> Sequence[Operand]:
        """Known scalars beside recorded arrays of their dtype as Python numbers.

        Where a loop repeats they are NumPy scalars, whose values kernels take as arguments: each
        repetition may bring others.
        """
        scalars = [type(x) is np.ndarray and x.size == 1 for x in operands]
        pairs = list(zip(operands, scalars, strict=True))
        dtypes = {x.dtype for x, scalar in pairs if not scalar and self._recorded(x)}
        if len(dtypes) != 1:
            return operands
        (dtype,) = dtypes
        return [
            self._number(operand) if scalar and operand.dtype == dtype else operand
            for operand, scalar in pairs
        ]

    def _number(self, scalar: np.ndarray) -> Any:
        return self.tracer.lift(scalar.ravel()[0]) if self.repeats else scalar.item()

    def _lift_all(self, fn: Any, *operands: Any, **options: Any) -> Any:
        return self.tracer.call(fn, tuple(map(self._lift, operands)), options)

    def _method(self, name: str, data: Data, *rest: Any) -> Any:
        if not self._recorded(data):
            return getattr(data, name)(*rest)
        return self.tracer.method(self._lift(data), name, rest, {})

    def _lift(self, value: Any) -> Any:
        """The recorded form of an array."""
        return self.tracer.lift(value) if isinstance(value, np.ndarray) else value

    def _plain(self, value: Any) -> Any:
        """The real form of a value."""
        return value if self._tracer is None else self._tracer.raw(value)


def _nowhere() -> None:
    """No program runs yet."""


_WORST = {"fmax": -np.inf, "fmin": np.inf}
"""What takes the place of NaN in the reductions that leave it out."""
_REDUCTIONS = {
    "add": np.sum,
    "sum": np.sum,
    "multiply": np.prod,
    "prod": np.prod,
    "maximum": np.max,
    "max": np.max,
    "minimum": np.min,
    "min": np.min,
    "any": np.any,
    "all": np.all,
    "mean": np.mean,
    "var": np.var,
}
"""Reductions that are rows; the others are NumPy's."""
