"""Eager execution: the rest of a call, or a whole one, at the pace of plain Python.

A recording that runs away (more is compiled or noted than can be worth it) ends where it is. From
there on the program has real values, and its hooks let everything through. Rows whose bits are our
own are computed by their kernels all the same.
"""

from __future__ import annotations

import ctypes
import dis
import functools
import operator
import sys
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from runmat_jit.capture import callables
from runmat_jit.capture.record import caller_frames
from runmat_jit.capture.record.calls import makes_plain_instances
from runmat_jit.capture.record.eager_kernels import OWN_FUNCTIONS, OWN_METHODS, EagerKernels, is_own
from runmat_jit.capture.record.recording import Recording
from runmat_jit.capture.record.release import Release
from runmat_jit.capture.record.special_methods import may_call_back
from runmat_jit.capture.source.hook_base import CONVERSIONS, HookBase, Starred, plain_part
from runmat_jit.capture.source.hook_calls import RUNTIME
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.capture.source.rewrite import Rewritten, bind
from runmat_jit.capture.tape import call_forms
from runmat_jit.capture.tape.lines import call_at, is_boundary
from runmat_jit.core.frames import uncounted
from runmat_jit.core.gates import Codes
from runmat_jit.core.installed import is_installed
from runmat_jit.loops.driver import EagerLoop
from runmat_jit.loops.source import LoopSource
from runmat_jit.ops.table import loaded_functions

FUNCTIONS_LIMIT: Final = 256
"""Functions of which the form for eager execution is kept."""
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
"""Whether a frame has to be told that its variables were set."""


class Converter(Protocol):
    """Rewrites functions, each once."""

    def find(
        self, fn: types.FunctionType, carried: str | None = None, *, direct: bool = False
    ) -> Rewritten | Refused:
        """The rewritten form of a function, or why there is none."""

    def is_rewritten(self, code: types.CodeType) -> bool:
        """Whether a code object calls hooks."""

    def undecorated(self, fn: Any) -> Any:
        """Function beneath our own decorator; None where that is not."""


_OF_WHILE: Final[Iterable[Any]] = iter(())
"""What a ``while`` leaves for its rest: that there is one."""


class EagerHooks(HookBase):
    """Hooks of one function that is executed eagerly, on real values."""

    def __init__(self, eager: Eager, fn: types.FunctionType, left: Left | None = None) -> None:
        self.left = left
        """The recording that was left in a call of the function."""
        self.eager, self.kernels, self.converter = eager, eager.kernels, eager.converter
        self.globals, self.fn = fn.__globals__, fn
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
        self._loops: dict[int, EagerLoop] = {}

    attr = staticmethod(getattr)
    item = staticmethod(operator.getitem)
    is_ = staticmethod(operator.is_)
    is_not = staticmethod(operator.is_not)
    delattr_ = staticmethod(delattr)
    delitem = staticmethod(operator.delitem)

    # -- calls -------------------------------------------------------------------------------------
    @uncounted
    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        handler = _OF_CLASS.get(type(function))
        if handler is not None:
            return handler(self, function, args, kwargs)
        if isinstance(function, type):
            return self.call_class(function, args, kwargs)
        if self.converter.undecorated(function) is not None:
            return function(*args, **kwargs)  # it is executed as it is decorated to be
        return self.call_unknown(function, args, kwargs)

    @uncounted
    def call_class(self, cls: type, args: Any, kwargs: Any) -> Any:
        """A class: that of the user's is followed into its ``__init__``."""
        initialize = getattr(cls, "__init__", None)
        if type(initialize) is types.FunctionType and makes_plain_instances(cls):
            if self.is_not_followed(initialize) and len(self.eager.callees) < FUNCTIONS_LIMIT:
                self.eager.callees[cls] = cls  # and is called from the program's own frame
            instance: Any = object.__new__(cls)
            self.call_function(initialize, (instance, *args), kwargs)
            return instance
        if not cls.__flags__ & _HEAP_TYPE:
            self.eager.callees[cls] = cls
        if cls.__module__ != "builtins":
            return self.call_unknown(cls, args, kwargs)
        return self.from_line(cls, *args, **kwargs)

    def is_not_followed(self, initialize: types.FunctionType) -> bool:
        """Whether a class makes objects without any computation that would be followed."""
        if is_installed(initialize) or computes_nothing(initialize.__code__):
            return True
        return isinstance(self.converter.find(initialize), Refused)

    def call_unknown(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """A callable of which nothing is known: it may look at the frame that it is called from."""
        if callables.of(fn) is not callables.EFFECT:
            return self.from_line(fn, *args, **kwargs)
        return caller_frames.call(self.kernels.lines, None, fn, args, kwargs)

    @uncounted
    def call_function(self, fn: types.FunctionType, args: Any, kwargs: Any) -> Any:
        """A Python function: the user's are followed, for rows whose bits are our own."""
        known = self.eager.known(fn)
        codes = self.eager.codes
        if computes_nothing(fn.__code__) and not defines(fn.__code__):
            if codes is not None:
                codes.add(fn.__code__, None)
            return fn(*args, **kwargs)
        if known is not None:
            if codes is not None and is_direct(known.__code__):
                codes.add(fn.__code__, known)
            return known(*args, **kwargs)
        if self.converter.is_rewritten(fn.__code__) or is_direct(fn.__code__):
            if codes is not None and is_direct(fn.__code__):
                codes.add(fn.__code__, None)
            return fn(*args, **kwargs)
        if is_installed(fn):
            if codes is not None and callables.of(fn) is not callables.EFFECT:
                codes.add(fn.__code__, None)  # and is called from the program's own frame
            return self.call_unknown(fn, args, kwargs)
        found = self.converter.find(fn)
        if isinstance(found, Refused):  # it may look at the frame that it is called from, too
            return self.call_unknown(fn, args, kwargs)
        return self.eager.function(fn, found).bound()(*args, **kwargs)

    @uncounted
    def call_method(self, fn: types.MethodType, args: Any, kwargs: Any) -> Any:
        """A bound method is its function on the object."""
        if type(fn.__func__) is types.FunctionType:
            return self.call_function(fn.__func__, (fn.__self__, *args), kwargs)
        return fn(*args, **kwargs)

    @uncounted
    def call_builtin(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """A builtin function, or a method of a builtin object: of an array, of a ufunc."""
        owner = fn.__self__
        if type(owner) is np.ndarray:
            if fn.__name__ in OWN_METHODS:
                return self.kernels.call(call_forms.method_of(fn.__name__), (owner, *args), kwargs)
            return call_at(self.kernels.lines.here(), fn, args, kwargs)
        if type(owner) is np.ufunc:  # whose methods have NumPy's bits
            return call_at(self.kernels.lines.here(), fn, args, kwargs)
        if type(owner) is types.ModuleType:
            known = callables.of(fn)
            if known is not callables.EFFECT:
                self.eager.callees[fn] = fn  # and is called from the program's own frame
                if not known.ordered:  # as ``warnings.warn`` is, which looks at the frames
                    return self.from_line(fn, *args, **kwargs)
            return caller_frames.call(self.kernels.lines, None, fn, args, kwargs)
        return fn(*args, **kwargs)

    @uncounted
    def call_numpy(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """A ufunc or another function of NumPy's."""
        if is_own(fn):
            return self.kernels.function(fn)(*args, **kwargs)
        return call_at(self.kernels.lines.here(), fn, args, kwargs)

    # -- operators ---------------------------------------------------------------------------------
    def power(self, base: Any, exponent: Any, /) -> Any:
        return self.arithmetic(operator.pow, base, exponent)

    def modulo(self, lhs: Any, rhs: Any, /) -> Any:
        return self.arithmetic(operator.mod, lhs, rhs)

    def iop(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        return self.arithmetic(getattr(operator, "i" + op), lhs, rhs)

    def arithmetic(self, fn: Any, lhs: Any, rhs: Any) -> Any:
        """An operator, which is to warn at the user's line."""
        if not (isinstance(lhs, _NUMPYS) or isinstance(rhs, _NUMPYS)):
            return self.from_line(fn, lhs, rhs)
        if fn is operator.pow or (fn is operator.ipow and type(lhs) is np.ndarray):
            return self.kernels.function(fn)(lhs, rhs)
        return call_at(self.kernels.lines.here(), fn, (lhs, rhs), {})

    def compare(self, op: str, lhs: Any, rhs: Any, /) -> Any:
        if not (type(lhs).__flags__ | type(rhs).__flags__) & _HEAP_TYPE:
            return _COMPARISONS[op](lhs, rhs)
        if op in ("eq", "ne"):
            return self.from_line(operator.eq if op == "eq" else operator.ne, lhs, rhs)
        found = self.from_line(operator.contains, rhs, lhs)
        return found if op == "in" else not found

    @uncounted
    def from_line(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """An operation; code of the program's that it runs finds the user's line above it."""
        if may_call_back(fn, args, kwargs):
            return caller_frames.call(self.kernels.lines, None, fn, args, kwargs)
        return fn(*args, **kwargs)

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
        elif type(obj) is not np.ndarray or obj.dtype is _FLOAT64:  # which takes any number quietly
            obj[key] = value
        else:
            call_at(self.kernels.lines.here(), operator.setitem, (obj, key, value), {})

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

    def loop(self, obj: Any, line: int, rests: int, /) -> Iterable[Any]:
        del line
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
    def direct(self) -> DirectHooks:
        """What the direct form of the function calls."""
        kernels = self.kernels
        return DirectHooks(
            self.eager.dispatch(self.call),
            kernels.function(operator.pow),
            self.iop,
            self.item_place,
            self.attr_place,
            self.decorator,
            self.base,
            self.fresh,
            self.looped,
        )

    @property
    def loops(self) -> tuple[LoopSource, ...]:
        """The loops of the function that may run natively, by number."""
        rewritten = self.converter.find(self.fn)
        return () if isinstance(rewritten, Refused) else rewritten.loops

    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        return self.loop_of(number).run(sys._getframe(1))

    def loop_of(self, number: int) -> EagerLoop:
        """A loop of the function."""
        found = self._loops.get(number)
        if found is None:
            found = self._loops[number] = EagerLoop(self, number)
        return found

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


_FLOAT64: Final = np.dtype(np.float64)
_OF_CLASS: Final[dict[type, Callable[[EagerHooks, Any, Any, Any], Any]]] = {
    np.ufunc: EagerHooks.call_numpy,
    type(np.sum): EagerHooks.call_numpy,
    types.BuiltinFunctionType: EagerHooks.call_builtin,
    types.FunctionType: EagerHooks.call_function,
    types.MethodType: EagerHooks.call_method,
}


class DirectHooks(NamedTuple):
    """Hooks of a function in its direct form, which calls few; ``call`` has no frame of its own."""

    call: Callable[..., Any]
    power: Callable[[Any, Any], Any]
    iop: Callable[[str, Any, Any], Any]
    item_place: Callable[[Any, Any], Any]
    attr_place: Callable[[Any, str], Any]
    decorator: Callable[[Any], Any]
    base: Callable[[Any], Any]
    fresh: Callable[[Any], Any]
    looped: Callable[[int], tuple[tuple[Any, ...], ...]]

    def starred(self, function: Any, /) -> Starred:
        return Starred(partial(self.call, function), function)


class UnlinkedHooks(EagerHooks):
    """Hooks of direct code in another process: plain Python."""

    def __init__(self) -> None:
        self.left = None

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    def arithmetic(self, fn: Any, lhs: Any, rhs: Any) -> Any:
        return fn(lhs, rhs)

    def from_line(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        return fn(*args, **kwargs)

    def setitem(self, value: Any, obj: Any, key: Any, /) -> None:
        obj[key] = value


class HooksLink:
    """The constant of direct code that leads to its hooks, which it does not keep alive.

    Python's collector does not look into code: hooks that their own code held would live for ever,
    and the program's module with them. Functions made in a call may live longer than what executed
    it, and may be pickled.
    """

    __slots__ = ("_of", "_parts")

    def __init__(self, hooks: EagerHooks | None = None) -> None:
        self._of = None if hooks is None else weakref.ref(hooks)
        self._parts = None if hooks is None else (hooks.kernels, hooks.converter)

    def __reduce__(self) -> Any:
        return HooksLink, ()

    def owner(self) -> EagerHooks | None:
        """The hooks of the function that the code was made for, if they are still there."""
        return None if self._of is None else self._of()

    def hooks(self) -> DirectHooks | EagerHooks:
        """The same, as direct code calls them; else hooks of nothing that do the same."""
        found = self.owner()
        if found is not None:
            return found.direct
        if self._parts is None:
            return UnlinkedHooks()
        return EagerHooks(Eager(*self._parts), _NO_FUNCTION)

    call = property(lambda self: self.hooks().call)
    power = property(lambda self: self.hooks().power)
    iop = property(lambda self: self.hooks().iop)
    item_place = property(lambda self: self.hooks().item_place)
    attr_place = property(lambda self: self.hooks().attr_place)
    decorator = property(lambda self: self.hooks().decorator)
    base = property(lambda self: self.hooks().base)
    fresh = property(lambda self: self.hooks().fresh)

    def looped(self, number: int, /) -> tuple[tuple[Any, ...], ...]:
        found = self.owner()
        return () if found is None else found.loop_of(number).run(sys._getframe(1))

    def starred(self, function: Any, /) -> Starred:
        return Starred(partial(self.call, function), function)


_NO_FUNCTION: Final[Any] = lambda: None  # noqa: E731  (hooks that belong to no function any more)


def is_direct(code: types.CodeType) -> bool:
    """Whether code is that of a function in its direct form."""
    return any(type(const) is HooksLink for const in code.co_consts)


@lru_cache(maxsize=FUNCTIONS_LIMIT)  # a memo of a pure question
def computes_nothing(code: types.CodeType) -> bool:
    """Whether code calls nothing, and raises nothing to a power: a rewritten one had no hooks."""
    instructions = list(dis.get_instructions(code))
    names = {instruction.opname for instruction in instructions}
    powers = any("**" in each.argrepr for each in instructions if each.opname == "BINARY_OP")
    return not powers and not any(name.startswith(("CALL", "PRECALL", "IMPORT")) for name in names)


def defines(code: types.CodeType) -> bool:
    """Whether code makes functions or classes."""
    return any(type(const) is types.CodeType for const in code.co_consts)


class EagerFunction:
    """A decorated function that is executed eagerly."""

    def __init__(self, fn: types.FunctionType, rewritten: Rewritten, hooks: EagerHooks) -> None:
        self.fn, self.code, self.rewritten, self.hooks = fn, fn.__code__, rewritten, hooks
        self._called = HooksLink(hooks) if rewritten.direct else hooks
        self._bound = bind(rewritten, fn, self._called)

    def bound(self) -> types.FunctionType:
        """The rewritten function; another one, where the function has got other defaults."""
        found, fn = self._bound, self.fn
        same = found.__defaults__ is fn.__defaults__ and found.__kwdefaults__ is fn.__kwdefaults__
        if not same:
            found = self._bound = bind(self.rewritten, fn, self._called)
        return found


class Eager:
    """Eager execution of one decorated function: the functions that it calls, and their hooks.

    They live as long as it does: ``kernels`` alone, which know no function of the program's, are
    those of the session.
    """

    def __init__(self, kernels: EagerKernels, converter: Converter) -> None:
        self.kernels, self.converter = kernels, converter
        self._functions: dict[types.FunctionType, EagerFunction] = {}
        self.callees: dict[Any, Callable[..., Any]] = {}
        """Replacements of callables, see :meth:`runmat_jit.core.gates.Gates.dispatch`."""
        self.codes: Codes | None = None
        """Likewise, for functions of Python."""

    def dispatch(self, fallback: Callable[..., Any]) -> Callable[..., Any]:
        """A hook for calls, without a frame of its own where native code can be had.

        ``fallback`` makes the calls of what only Python can judge.
        """
        kernels = self.kernels
        gates = kernels.executor.gates()
        if gates is None:
            return fallback

        @uncounted
        def with_room(*args: Any, **kwargs: Any) -> Any:
            with kernels.room:
                return fallback(*args, **kwargs)

        for fn in (*OWN_FUNCTIONS, *loaded_functions()):
            self.callees.setdefault(fn, kernels.function(fn))
        methods = {name: kernels.function(call_forms.method_of(name)) for name in OWN_METHODS}
        self.codes = self.codes or gates.codes()
        return gates.dispatch(self.callees, methods, self.codes, with_room)

    def hooks(self, fn: types.FunctionType) -> EagerHooks:
        """Hooks of a function that is executed eagerly."""
        return EagerHooks(self, fn)

    def known(self, fn: types.FunctionType) -> types.FunctionType | None:
        """The form of a function that has been executed eagerly."""
        found = self._functions.get(fn)
        if found is None or found.code is not fn.__code__:
            return None
        return found.bound()

    def function(
        self, fn: types.FunctionType, rewritten: Rewritten, carried: str | None = None
    ) -> EagerFunction:
        """A function to be executed eagerly; ``rewritten``: its form with all hooks."""
        made = self._function(fn, rewritten, carried)
        if fn.__closure__ is None and len(self._functions) < FUNCTIONS_LIMIT:
            self._functions[fn] = made  # which keeps no variable of others alive
        return made

    def _function(
        self, fn: types.FunctionType, rewritten: Rewritten, carried: str | None
    ) -> EagerFunction:
        direct = self.converter.find(fn, carried, direct=True)
        hooks = self.hooks(fn)
        if isinstance(direct, Refused):
            return EagerFunction(fn, rewritten, hooks)
        return EagerFunction(fn, direct, hooks)

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """An operation on real values."""
        return self.kernels.call(fn, args, kwargs)

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
        """The function itself: its hooks are those of eager execution from now on."""
        return value


class Left:
    """The end of a recording in the middle of its call."""

    def __init__(self, eager: Eager, release: Release) -> None:
        self.eager, self.real = eager, release
        self.rests: list[Iterable[Any]] = []
        """What a loop has left for its direct form, which goes on with it at once."""
        self._launches, self._loops = eager.kernels.launches, eager.kernels.loops

    @property
    def is_ours(self) -> bool:
        """Whether kernels have computed values since, whose bits are our own."""
        return self.eager.kernels.launches > self._launches

    @property
    def has_looped(self) -> bool:
        """Whether loops have run natively since."""
        return self.eager.kernels.loops > self._loops

    def forget(self) -> None:
        """The call is over: let the values go that were made real."""
        self.real.done.clear()

    def make_real(self, frame: types.FrameType) -> None:
        """Give a frame real values in its variables, and hooks that let everything through."""
        variables = frame.f_locals
        for name, value in list(variables.items()):
            real = EagerHooks(self.eager, value.fn, self) if name == RUNTIME else self.real(value)
            if real is not value:
                variables[name] = real
        if _WRITES_BACK:
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
            variables.clear()  # else the frame would keep them alive
