"""Everything a caller can see of a call, and the comparison of two such observations.

``check`` runs a function decorated and undecorated on equal fresh inputs, several times: results
(types, dtypes, shapes, strides, values, identity, shared memory), arguments afterwards,
exceptions with their lines in user code, printed text and warnings must be the same, and equal
inputs must give equal bits in every call.
"""

import contextlib
import io
import linecache
import math
import traceback
import types
import warnings
import zlib
from collections import deque
from dataclasses import dataclass, field

import numpy as np

import runmat_jit as runmat

RELATIVE = {"e": 1e-2, "f": 1e-5, "d": 1e-12, "g": 1e-12, "F": 1e-5, "D": 1e-12}
HERE = __file__
FALSE_ALARM = "invalid value encountered in matmul"
LIBRARIES = ("builtins", "numpy", "numpy.ma.core", "functools", "decimal", "fractions")


@dataclass
class Seen:
    """What one call did."""

    result: object = None
    args: tuple = ()
    kwargs: dict = field(default_factory=dict)
    error: str = ""
    error_lines: tuple = ()
    printed: str = ""
    warned: tuple = ()


def observe(fn, args, kwargs):
    """Call ``fn`` and note everything."""
    seen = Seen(args=args, kwargs=kwargs)
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            seen.result = fn(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  (whatever it is, both must raise it)
            seen.error = f"{type(error).__module__}.{type(error).__qualname__}: {error}"
            seen.error_lines = user_lines(error)
    seen.printed = out.getvalue()
    seen.warned = tuple((w.category, str(w.message), w.filename, w.lineno) for w in caught)
    return seen


def user_lines(error):
    """File and line of each frame of a traceback that is neither ours nor a library's."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [(frame.filename, frame.lineno) for frame in frames]
    return tuple(line for line in lines if line[0] != HERE and is_user_file(line[0]))


def is_user_file(filename):
    return "runmat_jit/" not in filename and "site-packages" not in filename


# -- comparing -------------------------------------------------------------------------------------
def compare(expected, found, *, exact=False, amplified=1.0):
    """Refuse any difference between two observations; ``amplified``: see :func:`agree`."""
    for name in ("error", "error_lines", "printed"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours == theirs, f"{name}: {ours}, not {theirs}"
    compare_warnings(without_false_alarms(expected), without_false_alarms(found))
    theirs = (expected.result, expected.args, expected.kwargs)
    ours = (found.result, found.args, found.kwargs)
    compare_values(theirs, ours, "", exact=exact, amplified=amplified)
    for what, a, b in zip(("same", "shared"), sharing(ours), sharing(theirs), strict=True):
        assert a == b, f"{what} memory: {sorted(set(a) ^ set(b))} differ"


def without_false_alarms(seen):
    """The warnings of a call, but for those that depend on memory which nobody has written.

    OpenBLAS can make NumPy's matmul warn of invalid values where there are none, in plain programs
    too (see docs/design/0004-floating-point-events.md): where every number is finite, that says
    nothing of either function.
    """
    alarms = tuple(each for each in seen.warned if each[1] == FALSE_ALARM)
    if not alarms or not is_finite((seen.result, seen.args, seen.kwargs)):
        return seen.warned
    return tuple(each for each in seen.warned if each not in alarms)


def is_finite(value):
    """Whether no number of a value, or of containers in it, is infinite or not a number."""
    if isinstance(value, np.ndarray | np.generic | float | complex):
        value = np.asarray(value)
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    return not isinstance(value, tuple | list) or all(map(is_finite, value))


def compare_warnings(expected, found):
    """The same ones in the same order; NumPy's own code may be named, ours never is."""
    for theirs, ours in zip(expected, found, strict=False):
        inside = "site-packages" in theirs[2]
        assert ours[: 2 if inside else 4] == theirs[: 2 if inside else 4], (
            f"{found}, not {expected}"
        )
        assert is_user_file(ours[2]) or inside, ours
    assert len(found) == len(expected), f"{found}, not {expected}"


def compare_values(expected, found, path, *, exact, amplified=1.0, above=()):
    """Types, contents and values, at every depth; ``above`` are the containers around."""
    assert type(found) is type(expected), f"{path}: {type(found)}, not {type(expected)}"
    if isinstance(expected, np.ndarray):
        assert facts(found) == facts(expected), path
    if isinstance(expected, (np.ndarray, np.generic, float, complex)):
        assert agree(np.asarray(expected), np.asarray(found), exact=exact, amplified=amplified), (
            f"{path}: {found!r}, not {expected!r}"
        )
        return
    if id(expected) in above:
        return
    theirs, ours = parts_of(expected), parts_of(found)
    if theirs is None:
        if not isinstance(expected, (types.FunctionType, types.GeneratorType)):
            assert same_leaf(expected, found), f"{path}: {found!r}, not {expected!r}"
        return
    assert list(ours) == list(theirs), path
    for name, value in theirs.items():
        inner, around = f"{path}[{name!r}]", (*above, id(expected))
        compare_values(value, ours[name], inner, exact=exact, amplified=amplified, above=around)


def same_leaf(expected, found):
    if isinstance(expected, types.BuiltinFunctionType):
        return expected.__name__ == found.__name__
    if type(expected).__module__ in ("builtins", "numpy"):
        return expected is found or expected == found
    return True  # an object of the user's: compared by its attributes


def facts(array):
    return array.dtype, array.shape, array.strides, array.flags.num


def parts_of(value):
    """The children of a container or object by name; None for a leaf."""
    if isinstance(value, dict):
        return {("key", number): item for number, item in enumerate(value.items())}
    if isinstance(value, (list, tuple, deque)):
        return dict(enumerate(value))
    if isinstance(value, (set, frozenset)):
        return dict(enumerate(sorted(value, key=repr)))
    if isinstance(value, slice):
        return {"slice": (value.start, value.stop, value.step)}
    if isinstance(value, BaseException):
        return {"args": value.args, **vars(value)}
    if isinstance(value, types.MethodType):
        return {"object": value.__self__, "function": value.__func__}
    if isinstance(value, runmat.random.Generator):
        return value.state
    if hasattr(value, "__dict__") and type(value).__module__ not in LIBRARIES:
        return dict(vars(value))
    return None


def agree(expected, found, *, exact, amplified=1.0):
    """Equal bits but for NaN payloads, or within the tolerance of the dtype.

    ``amplified``: how many times a rounding counts in the result.
    """
    if expected.dtype.char not in RELATIVE:
        return bool(np.array_equal(expected, found)) or expected.dtype.kind in "OVM"
    if exact:
        nan = np.isnan(expected)
        same = (expected == found) & (np.signbit(expected.real) == np.signbit(found.real))
        return bool(np.all(np.where(nan, np.isnan(found), same)))
    relative = RELATIVE[expected.dtype.char] * amplified
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max()) if finite.size else 0.0
    with np.errstate(all="ignore"):
        return bool(np.allclose(found, expected, relative, relative * scale, equal_nan=True))


def sharing(tree):
    """Which containers and arrays are one object, and which arrays share memory."""
    nodes = []
    collect(tree, "", nodes, set())
    first = {}
    same = tuple((first.setdefault(id(value), path), path) for path, value in nodes)
    arrays = [(path, value) for path, value in nodes if isinstance(value, np.ndarray)]
    shared = tuple(
        (path, other)
        for number, (path, value) in enumerate(arrays)
        for other, before in arrays[:number]
        if np.shares_memory(value, before)
    )
    return same, shared


def collect(value, path, nodes, above):
    if isinstance(value, np.ndarray):
        nodes.append((path, value))
        return
    parts = parts_of(value)
    if parts is None or id(value) in above:
        return
    if not isinstance(value, (tuple, frozenset, slice)):
        nodes.append((path, value))
    for name, child in parts.items():
        collect(child, f"{path}[{name!r}]", nodes, above | {id(value)})


# -- running ---------------------------------------------------------------------------------------
def check(fn, make=tuple, *, seeds=(0, 0, 1, 0), replayed=None, exact=False):
    """Compare ``fn`` with itself decorated.

    Args:
        fn: A function that keeps no state between calls.
        make: Gives the arguments: ``make(rng)`` or ``make()``; a tuple, the last item of which may
            be a ``Keywords``.
        seeds: One call for each; equal seeds make equal inputs.
        replayed: True: the last call ran no Python; False: Python ran in every call.
        exact: Floats must be equal to the bit, not within the tolerance.

    """
    return check_pair(fn, runmat.jit(fn), make, seeds=seeds, replayed=replayed, exact=exact)


class Keywords(dict):
    """Keyword arguments at the end of what ``make`` gives."""


def check_pair(plain, decorated, make, *, seeds, replayed, exact, change=None):
    first_bits = {}
    for number, seed in enumerate(seeds):
        for change_one in change or ():
            change_one(number)
        expected = observe(plain, *arguments(make, seed))
        found = observe(decorated, *arguments(make, seed))
        compare(expected, found, exact=exact)
        if change is None:
            bits = bits_of((found.result, found.args, found.kwargs))
            assert first_bits.setdefault(seed, bits) == bits, "the bits depend on the call"
    if replayed is not None:
        require_mode(decorated, replayed)
    return decorated


def require_mode(decorated, replayed):
    """Whether Python ran: by the counters, and by what the record says of the reasons."""
    info = decorated.cache_info()
    reasons = [
        str(effect)
        for record in decorated._captured[1].records.values()
        for effect in record.effects
    ]
    if replayed:
        assert info.hits, (info, reasons)
    else:
        assert not info.hits, info


def arguments(make, seed):
    rng = np.random.default_rng(seed)
    made = make(rng) if make.__code__.co_argcount else make()
    if made and isinstance(made[-1], Keywords):
        return made[:-1], dict(made[-1])
    return made, {}


def bits_of(value, above=()):
    """All bits at every depth, where there is an order of them."""
    if id(value) in above:
        return "again"
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.data if isinstance(value, np.ma.MaskedArray) else value
        plain = value.dtype.kind in "biufcSUM" and value.dtype.char not in "gG"
        return value.dtype.str, value.shape, value.tobytes() if plain else ""
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else repr(value)
    parts = parts_of(value) if not isinstance(value, (set, frozenset)) else None
    if parts is None:
        return repr(value) if type(value) in (int, str, bool, bytes, complex) else type(value)
    return type(value), tuple((repr(k), bits_of(v, (*above, id(value)))) for k, v in parts.items())


def check_built(build, make=tuple, *, seeds=(0, 0, 1, 0), replayed=None, exact=False):
    """Compare a function that sees outside state.

    ``build()`` makes ``(function, change)`` with state of their own, twice; ``change(number)``
    alters the state before each call.
    """
    (plain, change_plain), (inner, change) = build(), build()
    decorated = runmat.jit(inner)
    return check_pair(
        plain,
        decorated,
        make,
        seeds=seeds,
        replayed=replayed,
        exact=exact,
        change=(change_plain, change),
    )


def module(text, name="program"):
    """Run ``text`` as a module with source: its namespace."""
    filename = f"<{name} {zlib.crc32(text.encode())}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": name, "np": np}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def check_module(text, make=tuple, **options):
    """Compare the function ``f`` of a module whose ``change(number)`` alters its globals."""
    return check_built(lambda: pick(module(text)), make, **options)


def pick(namespace):
    return namespace["f"], namespace.get("change", lambda _number: None)
