"""Plain execution: the rest of a call whose recording has ended, and whole calls with native loops.

A recording that runs away (more is compiled or noted than can be worth it) ends where it is. From
there on the program has real values, and its hooks do what Python does. Loops may still run
natively: they are hooks of their own, also of functions that are not recorded (their direct form).
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import caller_frames
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.release import Release
from runmat_jit.capture.record.special_methods import may_call_back
from runmat_jit.capture.source.hook_base import CONVERSIONS, HookBase, plain_part
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.source.rewrite import Rewritten, bind
from runmat_jit.capture.source.rewrite_direct import HOOKS
from runmat_jit.capture.tape.lines import Lines, call_at, is_boundary
from runmat_jit.core.evidence import Evidence
from runmat_jit.core.frames import uncounted
from runmat_jit.core.hotness import LOOKS
from runmat_jit.core.installed import is_installed
from runmat_jit.core.protocols import Executor
from runmat_jit.loops.driver import PlainLoop
from runmat_jit.loops.source import LoopSource

IDLE: Final = 4 * LOOKS
"""Calls of a function that is left as it stands, since its loops do not run natively."""
HELPERS_LIMIT: Final = 256
"""Functions called by others of which the direct form is kept."""
_NUMPYS: Final = (np.ndarray, np.generic)
_COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda value, container: value in container,
    "not in": lambda value, container: value not in container,
}
_HEAP_TYPE: Final = 1 << 9
"""Flag (Py_TPFLAGS_HEAPTYPE) of all classes that Python code defines."""
_WRITES_BACK: Final = sys.version_info < (3, 13)
"""True if variables that are set in ``f_locals`` must be copied into the frame."""
_FLOAT64: Final = np.dtype(np.float64)
_OF_WHILE: Final[Iterable[Any]] = iter(())
"""Stands for the rest of a ``while`` loop."""


class Converter(Protocol):
    """Rewrites functions, each once."""

    def find(
        self, fn: types.FunctionType, carried: str | None = None, *, direct: bool = False
    ) -> Rewritten | Refused:
        """Return the rewritten form of a function, or why there is none."""

    def is_rewritten(self, code: types.CodeType) -> bool:
        """Return True if a code object calls hooks."""

    def undecorated(self, fn: Any) -> Any:
        """Return the function beneath our own decorator; None where that is not."""


class PlainHooks(HookBase):
    """Hooks of one function on real values: they do what Python does, at the user's line."""

    def __init__(self, plain: Plain, fn: types.FunctionType, left: Left | None = None) -> None:
        self.left = left
        """The recording that was left in a call of the function."""
        self.plain, self.lines, self.converter = plain, plain.lines, plain.converter
        self.executor = plain.executor
        self.globals, self.fn = fn.__globals__, fn
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._loops: dict[int, PlainLoop] = {}

    attr = staticmethod(getattr)
    item = staticmethod(operator.getitem)
    is_ = staticmethod(operator.is_)
    is_not = staticmethod(operator.is_not)
    delattr_ = staticmethod(delattr)
    delitem = staticmethod(operator.delitem)

    # -- calls -------------------------------------------------------------------------------------
    @uncounted
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function; what may look at its caller's frame finds the program's own."""
        owner = getattr(function, "__self__", None)
        if callables.of(function) is not callables.EFFECT or isinstance(owner, _NUMPYS):
            return self.at_line(function, args, kwargs)
        if type(function) is types.BuiltinFunctionType and type(owner) is not types.ModuleType:
            return function(*args, **kwargs)
        known = function.__func__ if type(function) is types.MethodType else function
        if type(known) is types.FunctionType and not is_installed(known):
            return self.plain.helper(function)(*args, **kwargs)
        if self.converter.undecorated(known) is not None:
            return function(*args, **kwargs)
        return caller_frames.call(self.lines, None, function, args, kwargs)

    def at_line(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """Call what warns at the user's line; code of the program's that it runs is below that."""
        if may_call_back(fn, args, kwargs):
            return caller_frames.call(self.lines, None, fn, args, kwargs)
        return call_at(self.lines.here(), fn, args, kwargs)

    # -- operators ---------------------------------------------------------------------------------
    def power(self, base: Any, exponent: Any, /) -> Any:
        return self.at_line(operator.pow, (base, exponent), {})

    def modulo(self, lhs: Any, rhs: Any, /) -> Any:
        return self.at_line(operator.mod, (lhs, rhs), {})

    def iop(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        return self.at_line(getattr(operator, "i" + op), (lhs, rhs), {})

    def compare(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        if not (type(lhs).__flags__ | type(rhs).__flags__) & _HEAP_TYPE:
            return _COMPARISONS[op](lhs, rhs)
        if op in ("eq", "ne"):
            return self.from_line(operator.eq if op == "eq" else operator.ne, lhs, rhs)
        found = self.from_line(operator.contains, rhs, lhs)
        return found if op == "in" else not found

    @uncounted
    def from_line(self, fn: Any, /, *args: Any) -> Any:
        """An operation; code of the program's that it runs finds the user's line above it."""
        if may_call_back(fn, args, {}):
            return caller_frames.call(self.lines, None, fn, args, {})
        return fn(*args)

    # -- names and stores --------------------------------------------------------------------------
    def glob(self, name: str, /) -> Any:
        found = self.globals
        if name in found:
            return found[name]
        builtins = found["__builtins__"]
        try:
            return (builtins if isinstance(builtins, dict) else vars(builtins))[name]
        except KeyError:
            raise NameError(f"name {name!r} is not defined", name=name) from None

    def free(self, name: str, /) -> Any:
        return self.cells[name].cell_contents

    def setitem(self, value: Any, obj: Any, key: Any, /) -> None:
        if type(obj).__flags__ & _HEAP_TYPE:
            self.from_line(operator.setitem, obj, key, value)
        elif type(obj) is not np.ndarray or obj.dtype is _FLOAT64:  # which takes any number
            obj[key] = value
        else:
            call_at(self.lines.here(), operator.setitem, (obj, key, value), {})

    def setattr_(self, value: Any, obj: Any, name: str, /) -> None:
        if type(getattr(type(obj), "__setattr__", None)) is not types.FunctionType:
            setattr(obj, name, value)
        else:
            self.from_line(setattr, obj, name, value)

    # -- containers, loops, text -------------------------------------------------------------------
    def fresh(self, container: Any, /) -> Any:
        return container

    def iter_(self, obj: Any, /) -> Iterable[Any]:
        return obj  # type: ignore[no-any-return]  # what is iterated is iterable

    def loop(self, obj: Any, rests: int, whole: int, /) -> Iterable[Any]:
        del whole
        if not (rests and self.left):
            return obj  # type: ignore[no-any-return]  # as above
        self.left.rests.append(obj)
        return ()

    def rest(self) -> Iterable[Any]:
        return self.left.rests.pop() if self.left and self.left.rests else ()

    def goes_on(self) -> bool:
        if self.left is None:
            return True
        self.left.rests.append(_OF_WHILE)
        return False

    def has_rest(self) -> bool:
        return bool(self.left and self.left.rests and self.left.rests.pop() is _OF_WHILE)

    @functools.cached_property
    def direct(self) -> HooksLink:
        """Hooks of loops in direct form."""
        return HooksLink(self)

    @property
    def loops(self) -> tuple[LoopSource, ...]:
        """The loops of the function that may run natively, by number."""
        rewritten = self.converter.find(self.fn)
        return () if isinstance(rewritten, Refused) else rewritten.loops

    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        return self.loop_of(number).run(sys._getframe(1))

    def loop_of(self, number: int) -> PlainLoop:
        """Return a loop of the function."""
        found = self._loops.get(number)
        if found is None:
            found = self._loops.setdefault(number, PlainLoop(self, number))
        return found

    def is_idle(self) -> bool:
        """Return True if no loop has run natively in a while; then begin to count anew."""
        loops = list(self._loops.values())  # another thread may add one meanwhile
        if sum(loop.asked for loop in loops) < LOOKS:
            return False
        is_idle = all(loop.is_idle for loop in loops)
        for loop in loops:
            loop.begin()
        return is_idle

    def turn(self) -> bool:
        return True

    def formatted(self, value: Any, conversion: int, spec: Any = "", /) -> Any:
        if not type(value).__flags__ & _HEAP_TYPE:
            return plain_part(value, conversion, spec)
        text = value if conversion == -1 else self.from_line(CONVERSIONS[conversion], value)
        return self.from_line(format, text, spec)

    def decorate(self, decorator: Any, definition: Any, /) -> Any:
        return self.call(decorator, definition)

    def importing(self, module: str, /) -> None:
        pass


class HooksLink:
    """The constant of direct code that leads to its hooks, which it does not keep alive.

    Python's collector does not look into code: hooks that their own code held would live for ever,
    and the program's module with them. Functions made in a call may live longer than what executed
    it, and may be pickled: they have no native loops then.
    """

    __slots__ = ("_of",)

    def __init__(self, hooks: PlainHooks | None = None) -> None:
        self._of: Callable[[], PlainHooks | None] = _none if hooks is None else weakref.ref(hooks)

    def __reduce__(self) -> Any:
        return HooksLink, ()

    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        """Run a loop natively: the values that it leaves, see :class:`HookBase`."""
        found = self._of()
        return () if found is None else found.loop_of(number).run(sys._getframe(1))

    def ended(self, number: int, /) -> None:
        """Note that Python has run a loop to its end."""
        found = self._of()
        if found is not None:
            found.loop_of(number).ended(sys._getframe(1))

    def head(self, number: int, /) -> Iterable[tuple[()]]:
        """Return an iterable of the iterations that a ``while`` runs before it is asked again."""
        found = self._of()
        return () if found is None else found.loop_of(number).head()

    def again(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        """Run natively what is left of a ``while``."""
        found = self._of()
        return () if found is None else found.loop_of(number).again(sys._getframe(1))

    def helper(self, fn: Any, /) -> Any:
        """Return what is called for a function of the program: its direct form."""
        found = self._of()
        return fn if found is None else found.plain.helper(fn)


def _none() -> None:
    """Stand for a reference to nothing."""


class DirectForm:
    """A function in direct form: the function itself if it has no loops that may run natively.

    A function that is not captured has none: it may look at its variables, or share them.
    """

    def __init__(self, fn: types.FunctionType, plain: Plain, carried: str | None) -> None:
        self.fn, self.code, self.rewritten = fn, fn.__code__, None
        self._idle = 0
        """Calls for which it is left as it stands."""
        found = plain.converter.find(fn, carried)
        if not isinstance(found, Refused):
            found = plain.converter.find(fn, carried, direct=True)
        if not isinstance(found, Refused) and HOOKS in found.code.co_consts:
            self.rewritten = found
            self._hooks = PlainHooks(plain, fn)  # which the code does not keep alive
            self._link = HooksLink(self._hooks)
            self._bound = bind(found, fn, self._link)

    def bound(self) -> types.FunctionType:
        """Return the function; another one, where the function has got other defaults.

        Where its loops are asked for native runs in vain, it is left as it stands for some calls.
        """
        fn = self.fn
        if self.rewritten is None or self._idle:
            self._idle -= self._idle > 0
            return fn
        if self._hooks.is_idle():
            self._idle = IDLE
            return fn
        found = self._bound
        same = found.__defaults__ is fn.__defaults__ and found.__kwdefaults__ is fn.__kwdefaults__
        if not same:
            found = self._bound = bind(self.rewritten, fn, self._link)
        return found


class Plain:
    """Plain execution of one decorated function and of what it calls; ``evidence`` of its calls."""

    def __init__(
        self, executor: Executor, lines: Lines, converter: Converter, evidence: Evidence | None
    ) -> None:
        self.executor, self.lines, self.converter = executor, lines, converter
        self.evidence = evidence
        self._helpers: dict[types.FunctionType, DirectForm] = {}

    def helper(self, fn: Any) -> Any:
        """Return the direct form of a function that keeps no variable of others alive."""
        if type(fn) is not types.FunctionType or fn.__closure__ is not None:
            return fn
        found = self._helpers.get(fn)
        if found is None or found.code is not fn.__code__:
            if len(self._helpers) >= HELPERS_LIMIT:
                self._helpers.clear()
            found = self._helpers[fn] = DirectForm(fn, self, None)
        return found.bound()

    def hooks(self, fn: types.FunctionType) -> PlainHooks:
        """Return hooks of a function that is executed on real values."""
        return PlainHooks(self, fn)

    def leave(self, recording: Recording) -> Left:
        """End a recording in the middle of its call: the frames that run get real values.

        So do the containers that it made: in expressions that run, they may be in no variable.
        What else waits in those becomes real in the hooks that it waits for.
        """
        recording.shadows.push(recording.release)
        left = Left(self, ReleaseIntoFrames(recording, disown=True))
        deque(map(left.real, recording.made()), 0)
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and not is_boundary(frame.f_code):
            if self.converter.is_rewritten(frame.f_code):
                left.make_real(frame)
            frame = frame.f_back
        return left


class ReleaseIntoFrames(Release):
    """Real values for the frames of a recording that ends while they run."""

    def as_others_have_it(self, value: types.FunctionType) -> types.FunctionType:
        """The function itself: its hooks are those of plain execution from now on."""
        return value


class Left:
    """The end of a recording in the middle of its call."""

    def __init__(self, plain: Plain, release: Release) -> None:
        self.plain, self.real = plain, release
        self.rests: list[Iterable[Any]] = []
        """Rests of loops for their direct forms, which go on with them at once."""

    def forget(self) -> None:
        """The call is over: let the values go that were made real."""
        self.real.done.clear()

    def make_real(self, frame: types.FrameType) -> None:
        """Give a frame real values in its variables, and hooks that do what Python does."""
        variables = frame.f_locals
        for name, value in list(variables.items()):
            real = PlainHooks(self.plain, value.fn, self) if name == RUNTIME else self.real(value)
            if real is not value:
                variables[name] = real
        if _WRITES_BACK:
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
            variables.clear()  # else the frame would keep them alive
