"""The table of callables: what capture knows of a callable that is no row of ``ops``.

A row names callables by where they are found, and states facts that hold for every call of them.
What no row names is an effect: capture is a whitelist, and what it lacks costs speed, never truth.
"""

from __future__ import annotations

import fnmatch
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from runmat_jit.capture.call_laws import (
    Condition,
    Law,
    accumulated,
    broadcast,
    chosen,
    clipped,
    copied,
    first,
    has_two_choices,
    product,
    rearranged,
    repeats_alike,
    stacked_product,
    stores_in_range,
)
from runmat_jit.capture.tape.call_forms import (
    AttributeCall,
    IndexBuilder,
    MethodCall,
    UfuncMethod,
)
from runmat_jit.core.frozen import frozen
from runmat_jit.core.installed import is_installed


@frozen
class Callee:
    """Facts of a callable.

    Attributes:
        follow: The handler of a call in captured code (``record.calls.HANDLERS``); empty: an
            effect, unless the callable is reached as an operation of a traced value.
        pure: The result depends on the arguments alone, and nothing is written.
        cannot_raise: A call that succeeded once does so for all values of its operands, with a
            result of the same dtype, shape and strides; a condition looks at the arguments.
        result: The shape of the result, by those of the arguments.
        writes: Number of the argument that is written.
        ordered: It does or asks something outside (prints, waits, draws, tells the time):
            nothing calls it twice.
        calls_back: It calls what it is given.
        view: The result may show its first operand's memory, by static facts alone.

    """

    follow: str = ""
    pure: bool = False
    cannot_raise: bool | Condition = False
    result: Law | None = None
    writes: int | None = None
    ordered: bool = False
    calls_back: bool = False
    view: bool = False


@frozen
class Names:
    """Callables with the same facts.

    ``where`` is a module, the class of a method, or a prefix of modules. ``*`` is every public
    function or method that no other row of the place names.
    """

    where: str
    names: str
    callee: Callee


EFFECT: Final = Callee()
_NUMPY: Final = Callee("numpy", pure=True)
_CERTAIN: Final = Callee("numpy", pure=True, cannot_raise=True)
_VIEW: Final = Callee("numpy", pure=True, view=True)
_SOURCE: Final = Callee("source", pure=True)
_BUILTIN: Final = Callee("builtin")
_OPERATOR: Final = Callee("scalar", pure=True)
_BROADCAST: Final = Callee("scalar", pure=True, cannot_raise=True, result=broadcast)
_INPLACE: Final = Callee(writes=0, cannot_raise=True)
_RUN: Final = Callee("run")
_TEXT: Final = Callee("string")
_ORDERED: Final = Callee(ordered=True)
_LIBRARY: Final = Callee("library")
_ON_LIST: Final = Callee("on list")
_INTO_LIST: Final = Callee("on list", writes=0)

FUNCTIONS: Final[tuple[Names, ...]] = (
    # -- NumPy -------------------------------------------------------------------------------------
    Names("numpy", "*", _NUMPY),
    Names("numpy", "vdot inner einsum kron convolve trace", _CERTAIN),
    Names("numpy", "tensordot corrcoef", _SOURCE),
    Names("numpy", "median ptp diff trapezoid", _CERTAIN),
    Names("numpy", "take", replace(_NUMPY, follow="take")),
    Names("numpy", "tile", replace(_NUMPY, cannot_raise=repeats_alike)),
    Names("numpy", "matmul", replace(_CERTAIN, result=stacked_product)),
    Names("numpy", "dot", replace(_CERTAIN, result=product)),
    Names("numpy", "sort argsort", replace(_CERTAIN, result=rearranged)),
    Names("numpy", "cumsum cumprod", replace(_CERTAIN, result=accumulated)),
    Names("numpy", "round copy", replace(_CERTAIN, result=first)),
    Names("numpy", "array", replace(_CERTAIN, result=copied)),
    Names("numpy", "clip", replace(_CERTAIN, result=clipped)),
    Names("numpy", "where", replace(_NUMPY, cannot_raise=has_two_choices, result=chosen)),
    Names("numpy", "shares_memory may_share_memory", _CERTAIN),
    Names("numpy", "power float_power", replace(_NUMPY, result=broadcast)),
    Names("numpy", "transpose reshape ravel swapaxes moveaxis rollaxis squeeze", _VIEW),
    Names("numpy", "expand_dims broadcast_to diagonal diag flip fliplr flipud rot90", _VIEW),
    Names("numpy", "atleast_1d atleast_2d atleast_3d", replace(_VIEW, follow="each")),
    Names("numpy", "real imag permute_dims matrix_transpose", _VIEW),
    Names("numpy", "split array_split hsplit vsplit dsplit", _VIEW),
    Names("numpy", "asarray asanyarray ascontiguousarray require", _VIEW),
    Names("numpy", "fill_diagonal", Callee("numpy", writes=0, cannot_raise=True)),
    Names("numpy", "copyto", Callee("masked store", writes=0, cannot_raise=True)),
    Names("numpy", "putmask", Callee("masked store", writes=0)),
    Names("numpy", "put place put_along_axis", Callee("numpy", writes=0)),
    Names("numpy", "shape ndim size isscalar iscomplexobj isrealobj", Callee("fact", pure=True)),
    Names("numpy", "issubdtype", Callee("of dtypes", pure=True)),
    Names("numpy", "broadcast_shapes promote_types", Callee("of dtypes", pure=True)),
    Names("numpy", "result_type", Callee("of weak dtypes", pure=True)),
    Names("numpy", "array2string array_repr array_str", Callee(pure=True)),
    Names("numpy", "apply_along_axis apply_over_axes", Callee("along axes", calls_back=True)),
    Names("numpy", "piecewise fromfunction", Callee("source", calls_back=True)),
    Names("numpy", "hstack vstack column_stack dstack append outer roll gradient", _SOURCE),
    Names("numpy", "isclose allclose array_equal tril triu", _SOURCE),
    Names("numpy", "broadcast", Callee("of constants")),
    Names("numpy.lib.array_utils", "normalize_axis_index", Callee("of constants", pure=True)),
    Names("numpy.lib.array_utils", "normalize_axis_tuple", _SOURCE),
    Names("numpy", "bool_ int8 int16 int32 int64 longlong float16 float32 float64", _NUMPY),
    Names("numpy", "uint8 uint16 uint32 uint64 ulonglong complex64 complex128", _NUMPY),
    Names("numpy", "longdouble clongdouble bytes_ str_ void datetime64 timedelta64", _NUMPY),
    Names("numpy", "errstate", _RUN),
    Names("numpy", "dtype finfo iinfo", Callee("of a class")),
    Names("numpy", "save savez savez_compressed savetxt load loadtxt genfromtxt", EFFECT),
    Names("numpy", "fromfile fromregex fromiter frombuffer from_dlpack asmatrix bmat", EFFECT),
    Names("numpy", "seterr geterr seterrcall geterrcall setbufsize getbufsize", EFFECT),
    Names("numpy", "set_printoptions get_printoptions printoptions get_include info", EFFECT),
    Names("numpy", "show_config show_runtime nested_iters frompyfunc", EFFECT),
    Names("numpy.linalg", "matmul outer tensordot matrix_power", _SOURCE),
    Names("numpy.linalg", "multi_dot", replace(_SOURCE, follow="chain")),
    Names("numpy.linalg._linalg", "_assert_2d _multi_dot_three", _SOURCE),
    Names("numpy.linalg", "*", _NUMPY),
    Names("numpy.fft", "*", _NUMPY),
    *(
        Names(f"numpy.polynomial.{name}", "*", _NUMPY)
        for name in ("polynomial", "polyutils", "legendre", "chebyshev", "hermite", "hermite_e")
    ),
    Names("numpy.polynomial.laguerre", "*", _NUMPY),
    Names("numpy.lib.stride_tricks", "sliding_window_view as_strided", _NUMPY),
    Names("numpy.random", "default_rng Generator RandomState SeedSequence", Callee("generator")),
    Names("numpy.random", "PCG64 PCG64DXSM MT19937 Philox SFC64", Callee("generator")),
    Names("numpy.random", "seed ranf sample", Callee("generator", ordered=True)),
    Names("runmat_jit.random", "default_rng Generator", Callee("generator")),
    # -- builtins ----------------------------------------------------------------------------------
    Names("builtins", "range sum tuple zip enumerate reversed any all list dict set", _BUILTIN),
    Names("builtins", "frozenset iter slice", _BUILTIN),
    Names("builtins", "chr ord hash object staticmethod classmethod property", _BUILTIN),
    Names("builtins", "map filter sorted", replace(_BUILTIN, calls_back=True)),
    Names("builtins", "min max", Callee("scalar", calls_back=True)),
    Names("builtins", "abs round divmod pow", _OPERATOR),
    Names("builtins", "float int complex", replace(_OPERATOR, cannot_raise=True)),
    Names("builtins", "*Error *Exception *Warning *Group *Exit *Iteration *Interrupt", _BUILTIN),
    Names("builtins", "bool", Callee("truth")),
    Names("builtins", "len", Callee("length")),
    Names("builtins", "str repr ascii format bytes", _TEXT),
    Names("builtins", "type", Callee("class")),
    Names("builtins", "callable", _RUN),
    Names("builtins", "isinstance issubclass", Callee("question of classes")),
    Names("builtins", "getattr", Callee("attribute")),
    Names("builtins", "hasattr", Callee("question of attributes")),
    Names("builtins", "next", Callee("next")),
    Names("builtins", "print", _ORDERED),
    # -- the standard library ----------------------------------------------------------------------
    Names("operator", "*", _OPERATOR),
    Names("operator", "add sub mul truediv floordiv mod and_ or_ xor lshift rshift", _BROADCAST),
    Names("operator", "eq ne lt le gt ge", _BROADCAST),
    Names("operator", "neg pos abs invert", replace(_OPERATOR, result=broadcast)),
    Names("operator", "matmul", replace(_OPERATOR, cannot_raise=True, result=stacked_product)),
    Names("operator", "pow", replace(_OPERATOR, result=broadcast)),
    Names("operator", "contains", replace(_OPERATOR, cannot_raise=True)),
    Names("operator", "iadd isub imul itruediv ifloordiv imod iand ior ixor", _INPLACE),
    Names("operator", "ilshift irshift imatmul", _INPLACE),
    Names("operator", "ipow", Callee(writes=0)),
    Names("operator", "setitem", Callee(writes=0, cannot_raise=stores_in_range)),
    Names("operator", "delitem call iconcat", EFFECT),
    Names("operator", "itemgetter attrgetter methodcaller", _BUILTIN),
    Names("math", "*", _OPERATOR),
    Names("cmath", "*", _OPERATOR),
    Names("itertools", "[a-z]*", _BUILTIN),
    Names("functools", "reduce", replace(_BUILTIN, calls_back=True)),
    Names("functools", "partial", _RUN),
    Names("collections", "deque defaultdict OrderedDict Counter", Callee("container")),
    Names("types", "SimpleNamespace", Callee("container")),
    Names("dataclasses", "replace _replace", Callee("replaced instance")),
    Names("copy", "replace", Callee("replaced copy")),  # from Python 3.13 on
    Names("heapq", "nlargest nsmallest", replace(_ON_LIST, calls_back=True)),
    Names("heapq", "heappush heappop heapify heappushpop heapreplace", _INTO_LIST),
    Names("bisect", "bisect bisect_left", _ON_LIST),
    Names("bisect", "insort insort_left", _INTO_LIST),
    Names("contextlib", "nullcontext suppress", _RUN),
    Names("os.path", "join basename dirname split splitext normpath isabs", Callee("of constants")),
    Names("re", "findall split sub escape", Callee("of constants")),
    Names("time", "time perf_counter monotonic process_time thread_time", _ORDERED),
    Names("time", "time_ns perf_counter_ns monotonic_ns process_time_ns", _ORDERED),
    Names("time", "thread_time_ns sleep", _ORDERED),
    Names("random", "random uniform gauss normalvariate expovariate betavariate", _ORDERED),
    Names("random", "gammavariate lognormvariate triangular paretovariate", _ORDERED),
    Names("random", "weibullvariate vonmisesvariate randint randrange getrandbits seed", _ORDERED),
    Names("warnings", "warn", _ORDERED),
    Names("scipy.special", "geterr seterr", EFFECT),
    Names("scipy.fft", "set_backend skip_backend set_global_backend register_backend", EFFECT),
    Names("scipy.fft", "set_workers get_workers", EFFECT),
    # -- what replays call in place of the program's calls -----------------------------------------
    Names("runmat_jit.capture.record.masked_stores", "store", Callee("numpy", writes=0)),
    Names("runmat_jit.capture.record.gathers", "taken", _NUMPY),
)
"""Functions and classes of modules: known by identity."""

METHODS: Final[tuple[Names, ...]] = (
    Names("ndarray", "all any argmax argmin argpartition choose compress", _NUMPY),
    Names("ndarray", "max mean min nonzero prod repeat searchsorted std sum take", _NUMPY),
    Names("ndarray", "tobytes var view __copy__ __deepcopy__", _NUMPY),
    Names("ndarray", "is_integer bit_length as_integer_ratio hex bit_count", _NUMPY),
    Names("ndarray", "dot flatten item tolist trace", _CERTAIN),
    Names("ndarray", "astype copy round", replace(_CERTAIN, result=first)),
    Names("ndarray", "conj conjugate", replace(_VIEW, result=first)),  # of real numbers themselves
    Names("ndarray", "cumprod cumsum", replace(_CERTAIN, result=accumulated)),
    Names("ndarray", "argsort", replace(_CERTAIN, result=rearranged)),
    Names("ndarray", "clip", replace(_CERTAIN, result=clipped)),
    Names("ndarray", "ravel reshape transpose squeeze swapaxes diagonal", _VIEW),
    Names("ndarray", "__array__", Callee("numpy", view=True)),
    Names("ndarray", "fill sort", Callee("numpy", writes=0, cannot_raise=True)),
    Names("ndarray", "partition put setfield", Callee("numpy", writes=0)),
    Names("ndarray attributes", "T mT real imag", _VIEW),
    Names("ndarray attributes", "numerator denominator", _NUMPY),
    Names("ufunc", "__call__", replace(_CERTAIN, result=broadcast)),
    Names("generalized ufunc", "__call__", _CERTAIN),
    Names("ufunc", "reduce accumulate outer", _CERTAIN),
    Names("ufunc", "reduceat", _NUMPY),
    Names("ufunc", "at", Callee("numpy", writes=0)),
    Names("index builder", "*", _NUMPY),
    Names("Generator", "*", Callee(ordered=True)),
    Names("Generator", "shuffle permutation permuted", Callee(ordered=True, cannot_raise=True)),
    Names("Generator", "get_state set_state tomaxint", EFFECT),
    Names("BitGenerator", "spawn generate_state random_raw advance jumped", Callee(ordered=True)),
)
"""Methods, attributes and items, by the class that has them."""

LIBRARIES: Final[tuple[Names, ...]] = (
    Names("contextlib.", "*", _RUN),
    Names("scipy.linalg.", "*", _LIBRARY),
    Names("scipy.fft.", "*", _LIBRARY),
    Names("scipy.fftpack.", "*", _LIBRARY),
    Names("scipy.special.", "*", _LIBRARY),
    Names("scipy.signal.", "*", _LIBRARY),
    Names("scipy.ndimage.", "*", _LIBRARY),
    Names("scipy.interpolate.", "*", _LIBRARY),
    Names("scipy.spatial.distance.", "*", _LIBRARY),
    Names("scipy.integrate._quadrature.", "*", _LIBRARY),
)
"""Installed functions, by the modules that define them."""

# -- looking a callable up -------------------------------------------------------------------------
_KINDS: Final = (types.FunctionType, types.BuiltinFunctionType, type(np.sum))
"""Classes of functions: most of NumPy's are of one of its own."""
_MAKERS: Final = ("builtins", "numpy", "scipy", "uarray", "functools", "_cython")
"""Modules whose classes are those of installed functions, beginnings of their names."""
_BY_METHOD: Final = {(row.where, name): row.callee for row in METHODS for name in row.names.split()}
_PREFIXES: Final = {row.where: row.callee for row in LIBRARIES}
_AGAIN: Final = (Callee(ordered=True), Callee(ordered=True, cannot_raise=True))


def method(where: str, name: str) -> Callee:
    """The row of a method by the class that has it."""
    found = _BY_METHOD.get((where, name))
    return _BY_METHOD.get((where, "*"), EFFECT) if found is None else found


def members(where: str, module: types.ModuleType) -> Iterator[tuple[Any, Callee]]:
    """The callables of a module that has been loaded, with their rows; patterns come last."""
    found = {name: value for name, value in vars(module).items() if is_trusted(value)}
    rows = [(row, name) for row in FUNCTIONS if row.where == where for name in row.names.split()]
    for row, name in rows:
        if name in found:
            yield found.pop(name), row.callee
    for row, pattern in rows:
        if "*" in pattern:
            for name in fnmatch.filter(found, pattern):
                if isinstance(found[name], _KINDS if pattern == "*" else type) and name[0] != "_":
                    yield found[name], row.callee


def is_trusted(value: Any) -> bool:
    """True if the name of a library still means what the library defines."""
    return type(value) is not types.FunctionType or is_installed(value)


class Index:
    """Rows by identity; modules that are not loaded yet are looked at once they are."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Callee]] = {}
        self.waiting = list(dict.fromkeys(row.where for row in FUNCTIONS))

    def find(self, fn: Any) -> Callee | None:
        """The row that names a callable; None: no row does."""
        if id(fn) not in self.known:
            self.load()
        found = self.known.get(id(fn))
        return None if found is None else found[1]

    def load(self) -> None:
        """Take in the modules that have been loaded since."""
        loaded = [name for name in self.waiting if name in sys.modules]
        for where in loaded:
            for value, callee in members(where, sys.modules[where]):
                self.known.setdefault(id(value), (value, callee))
        self.waiting = [name for name in self.waiting if name not in loaded]


_INDEX: Final = Index()


def of_method_call(fn: MethodCall) -> Callee:
    """Facts of a method of an array or a number; of a generator or an instance it says itself."""
    return _AGAIN[fn.cannot_raise] if fn.ordered else method("ndarray", fn.name)


def of_ufunc(fn: np.ufunc) -> Callee:
    """Facts of a ufunc: those that no row names are alike."""
    plain = fn.nout == 1 and fn.signature is None
    return _INDEX.find(fn) or method("ufunc" if plain else "generalized ufunc", "__call__")


def of_ufunc_method(fn: UfuncMethod) -> Callee:
    """Facts of ``add.reduce`` and its siblings, which raise if the ufunc does."""
    found = method("ufunc", fn.name)
    return found if of_ufunc(fn.ufunc).cannot_raise else replace(found, cannot_raise=False)


_FORMS: Final[dict[type, Callable[[Any], Callee]]] = {
    MethodCall: of_method_call,
    AttributeCall: lambda fn: method("ndarray attributes", fn.name),
    UfuncMethod: of_ufunc_method,
    IndexBuilder: lambda fn: method("index builder", fn.__name__),
    np.ufunc: of_ufunc,
}


def of(fn: Any) -> Callee:
    """Facts of a callable; :data:`EFFECT` where nothing is known."""
    form = _FORMS.get(type(fn))
    if form is not None:
        return form(fn)
    return _INDEX.find(fn) or of_library(fn)


def of_library(fn: Any) -> Callee:
    """Facts of an installed function by the module that defines it; objects have none."""
    maker = type(fn).__module__.partition(".")[0]
    if isinstance(fn, (type, types.MethodType)) or not maker.startswith(_MAKERS):
        return EFFECT
    module = getattr(fn, "__module__", None)
    if not (isinstance(module, str) and hasattr(fn, "__name__") and is_trusted(fn)):
        return EFFECT
    found = [row for prefix, row in _PREFIXES.items() if f"{module}.".startswith(prefix)]
    return found[0] if found else EFFECT


def cannot_raise(fn: Any, args: tuple[Any, ...]) -> bool:
    """True if a call that succeeded once does so for all values of its operands, with equal types.

    An index array may go out of range, a power of integers be negative, a mask select another
    number of elements.
    """
    fact = of(fn).cannot_raise
    return fact if isinstance(fact, bool) else fact(args)


def is_view(fn: Any) -> bool:
    """True if the result may show its first operand's memory, by static facts alone."""
    return of(fn).view
