"""Hooks that do what Python does, and what a function does, as a value that can be compared."""

import builtins
import itertools
import linecache
import operator
import traceback
import types
import warnings

from runmat_jit.capture.source.hook_base import HookBase, plain_part
from runmat_jit.capture.source.locate import SourceCache, locate
from runmat_jit.capture.source.rewrite import Rewritten, bind, rewrite

CACHE = SourceCache()


class PlainHooks(HookBase):
    """Does what Python does."""

    def __init__(self, fn):
        self.globals = fn.__globals__
        self.cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def call(self, function, /, *args, **kwargs):
        return function(*args, **kwargs)

    def importing(self, module):
        pass

    def attr(self, obj, name):
        return getattr(obj, name)

    def item(self, obj, key):
        return obj[key]

    def glob(self, name):
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def free(self, name):
        cell = self.cells[name]
        if cell == types.CellType():
            raise NameError(
                f"cannot access free variable {name!r} where it is not associated with a value"
                " in enclosing scope"
            )
        return cell.cell_contents

    def setitem(self, value, obj, key):
        obj[key] = value

    def setattr_(self, value, obj, name):
        setattr(obj, name, value)

    def delitem(self, obj, key):
        del obj[key]

    def delattr_(self, obj, name):
        delattr(obj, name)

    def iop(self, op, lhs, rhs):
        return getattr(operator, "i" + op)(lhs, rhs)

    def fresh(self, container):
        return container

    def iter_(self, obj):
        return obj

    def looped(self, number):
        return ()

    def ended(self, number):
        pass

    def head(self, number):
        return ((),) * (3 * number)

    again = looped

    def loop(self, obj, rests, whole):
        return obj

    def formatted(self, value, conversion, spec=""):
        return plain_part(value, conversion, spec)

    def joined(self, *parts):
        return "".join(parts)

    def modulo(self, lhs, rhs):
        return lhs % rhs

    def power(self, base, exponent):
        return base**exponent

    def is_(self, lhs, rhs):
        return lhs is rhs

    def is_not(self, lhs, rhs):
        return lhs is not rhs

    def compare(self, op, lhs, rhs):
        if op in ("eq", "ne"):
            return getattr(operator, op)(lhs, rhs)
        return lhs in rhs if op == "in" else lhs not in rhs

    def decorate(self, decorator, definition):
        return decorator(definition)


def rewritten(fn, *, direct=False):
    located = locate(fn, CACHE)
    assert located, f"no source for {fn.__qualname__}"
    result = rewrite(fn, located, direct=direct)
    assert isinstance(result, Rewritten), result
    return result


def plain(fn, *, direct=False):
    """The rewritten function, with hooks that do what Python does."""
    return bind(rewritten(fn, direct=direct), fn, PlainHooks(fn))


def frames(error, filename):
    """What a traceback shows of the user's file."""
    return [
        (frame.name, frame.lineno, frame.end_lineno, frame.colno, frame.end_colno)
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == filename
    ]


class Probe:
    def __init__(self):
        self.log = []

    def __repr__(self):
        return "probe"

    def __call__(self, tag, value=None):
        self.log.append(repr(tag))  # as it is now
        return value


def behavior(fn, filename, *args):
    """Result or exception, and the log of the probe."""
    probe = Probe()
    try:
        outcome = repr(fn(*args, probe))
    except Exception as error:  # noqa: BLE001, whatever the function raises is compared
        links = [error, error.__cause__, error.__context__]
        outcome = [(repr(link), link and frames(link, filename)) for link in links]
    return outcome, probe.log


NUMBER = itertools.count()


def function_from(text, name="f", flags=0, **namespace):
    """The function that a text defines, with the text as its source."""
    filename = f"<text {next(NUMBER)}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # `1 is x` is on purpose
        exec(compile(text, filename, "exec", flags, dont_inherit=True), namespace)
    return namespace[name]
