"""Expressions of every kind of value, decorated and plain; the oracle is undecorated Python.

Values of many kinds (Python's numbers, NumPy's of all dtypes, arrays, sequences, text), operators,
builtins and NumPy's functions, drawn together at random: result, types, exceptions with their
messages, and what was done to the arguments must be the same in a call that is recorded and in one
that is replayed.
"""

import math
import os
import random
import re
import warnings

import numpy as np
import pytest

import runmat_jit as runmat
from tests.capture.behavior import compare, module, observe

FULL = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
CASES = 300 if FULL else 50
"""Cases of each law: a case is two calls."""


def values():
    """Values by name, new ones at each call."""
    return {
        "3": 3,
        "0": 0,
        "-2": -2,
        "2**70": 2**70,
        "300": 300,
        "True": True,
        "False": False,
        "2.5": 2.5,
        "0.0": 0.0,
        "-0.0": -0.0,
        "nan": math.nan,
        "-inf": -math.inf,
        "1j": 1j,
        "2+0j": 2 + 0j,
        "None": None,
        "...": ...,
        "'ab'": "ab",
        "'3'": "3",
        "''": "",
        "b'x'": b"x",
        **{f"np.{np.dtype(char).name}": np.dtype(char).type(2) for char in "?bhilBHILefdFD"},
        "np.str_": np.str_("a"),
        "0-d float": np.array(2.0),
        "0-d int": np.array(3),
        "0-d float32": np.array(1.5, "f4"),
        "0-d bool": np.array(True),
        **{f"array {char}": np.array([1, 0, 3]).astype(char) for char in "df?bBlD"},
        "one": np.array([2.0]),
        "matrix": np.arange(6.0).reshape(2, 3),
        "columns": np.arange(6.0).reshape(2, 3).T,
        "square": np.arange(9).reshape(3, 3),
        "empty": np.zeros(0),
        "no rows": np.zeros((0, 3)),
        "list": [1.0, 2],
        "[]": [],
        "lists": [[1, 2], [3, 4]],
        "tuple": (1, 2.0),
        "()": (),
        "texts": ("a", "b"),
        "range": range(3),
    }


NAMES = tuple(values())
HUGE = {"2**70", "300"}
BINARY = "+ - * / // % @ & | ^ << >> < <= > >= == != in is and or".split() + ["not in", "is not"]
INPLACE = "+= -= *= /= //= %= @= &= |= ^=".split()
UNARY = """-x; +x; ~x; not x; abs(x); bool(x); int(x); float(x); complex(x); str(x); repr(x)
round(x); hash(x); len(x); list(x); tuple(x); set(x); x[0]; x[()]; x[1:]; f'{x}'
f'{x:.2f}'; '%s' % (x,); '%d' % x; [1, 2, 3, 4][x]; [1, 2, 3][:x]; 'abc'[x:]; x.real
x.imag; x.conjugate(); divmod(x, 2); sum(x); max(x); sorted(x); x(); x.foo
x if x else 1; [i for i in x]; bin(x); chr(x); ord(x); any(x); all(x); dict(x)
list(zip(x, x)); min(x, 1); max(1, x); pow(x, 2); pow(x, 2, 5); pow(3, 2, x)
math.sqrt(x); math.floor(x); math.ceil(x); math.trunc(x); math.isnan(x)
math.pow(x, 2); math.hypot(x, 1); math.gcd(x, 6); operator.index(x); {x: 1}; {x}
{(x, 1): x}; x in [1, 2.0]; x in (3, 'ab'); x in {3: 1}; [1, 2, 3].index(x); x == None
x != x; x < 1 < 3; 'ab' in x; x.bit_length(); x.is_integer(); x.item(); x.tolist()
x.shape; x.dtype; x.T; x.sum(); slice(x); [[0]] * x; 'a' * x; (1,) * x; np.zeros(3)[x]
np.zeros(3)[x:]; round(x, 1); round(2.345, x); complex(x, 1); int(x, 10)
list(reversed(x)); next(iter(x)); bytes(x); iter(x) and 1; x.append(1); x.sort()
np.shape(x); np.ndim(x); np.size(x); np.isscalar(x); np.iscomplexobj(x)""".replace("\n", ";").split(
    ";"
)
OF_TWO = """divmod(x, y); operator.add(x, y); operator.mul(x, y); operator.contains(x, y); x[y]
operator.getitem(x, y); operator.matmul(x, y); operator.lt(x, y); min(x, y); max(x, y)
math.atan2(x, y); math.fmod(x, y); math.copysign(x, y); isinstance(x, type(y)); (x, y) == (y, x)
(x, y) < (y, x); [x] == [y]; x if y else 0; not (x and y); x < y < x; {x: y}; complex(x, y)
range(x, y); slice(x, y); sum([x, y]); sum((x, y), x); sorted([x, y]); x.__add__(y); getattr(x, y)
operator.concat(x, y); operator.iadd(x, y); list(zip(x, y)); str(x) + str(y); f'{x}{y}'; x in [y]
'%s%s' % (x, y); '{} {}'.format(x, y); [x].index(y); [x, y].count(x); {x, y}; sum(x, y)
np.result_type(x, y); np.promote_types(x, y); np.clip(x, y, 3); np.clip(x, y); np.arange(x, y)
np.where(x, y, 1); np.maximum(x, y); np.full(2, x); np.broadcast_shapes(x, y)""".replace(
    "\n", ";"
).split(";")
NOT_CALLED = frozenset(
    """save savez savez_compressed savetxt load loadtxt genfromtxt fromfile fromregex memmap
    test info show_config show_runtime get_include set_printoptions get_printoptions
    printoptions seterr geterr seterrcall geterrcall setbufsize getbufsize errstate empty
    empty_like ndarray recarray nditer nested_iters frompyfunc vectorize flatiter broadcast
    busdaycalendar matrix bmat asmatrix record poly1d ndenumerate ndindex finfo iinfo
    format_float_positional format_float_scientific dtype fromfunction fromiter piecewise
    apply_along_axis apply_over_axes frombuffer from_dlpack datetime64 timedelta64
    datetime_as_string datetime_data is_busday busday_count busday_offset void memoryview
    object_ mask_indices row_stack typename in1d trapz""".split()
)
"""Functions of files, of settings, of dates, or that give memory as it is."""
FUNCTIONS = sorted(
    name
    for name, fn in vars(np).items()
    if callable(fn) and name[0] != "_" and name not in NOT_CALLED
    if not (isinstance(fn, type) and (issubclass(fn, BaseException) or fn.__module__ == "builtins"))
)
SIZES = frozenset(
    """eye identity arange linspace logspace geomspace zeros ones full tri tile repeat pad vander
    hanning hamming blackman bartlett kaiser indices resize diagflat histogram""".split()
)
"""Functions to which a large number is a large array."""
RUN_BY = re.compile(r"\w+\.(\w+\(\) takes)")
"""Which class a message names: another one where CPython calls the method without binding it."""
UNSETTLED = (
    "Mean of empty",
    "Degrees of freedom",
    "encountered in",
    "deprecated",
    "Casting complex",
)
"""Warnings whose number and place are the subject of tests of their own."""


def same(body, names, what):
    fn = module(f"import math, operator\n{body}", "expressions")["f"]
    decorated = runmat.jit(fn)
    for _ in range(2):
        seen = [
            observe(each, (*map(values().__getitem__, names), np.ones(3)), {})
            for each in (fn, decorated)
        ]
        for each in seen:
            each.error = RUN_BY.sub(r"\1", each.error)
            each.warned = tuple(w for w in each.warned if not any(u in w[1] for u in UNSETTLED))
        try:
            compare(*seen)
        except AssertionError as error:
            raise AssertionError(f"{what} of {names}: {error}") from None


def drawn(law, count=CASES):
    """The law's own numbers: the same in each run, new ones in the profile ``explore``."""
    explore = os.environ.get("RUNMAT_TEST_PROFILE") == "explore"
    choose = random.Random(None if explore else law)
    return [choose for _ in range(count)]


def is_too_large(text, names):
    return bool(HUGE & set(names)) and any(
        each in text for each in ("<<", "range", "* x", "*x", "bytes", "pow(3", "chr", "full")
    )


def test_operators():
    for choose in drawn("operators", 2 * CASES):
        names, sign = choose.choices(NAMES, k=2), choose.choice(BINARY)
        text = choose.choice(("x {} y", "(x {0} y, y {0} x)", "(x {} (y,)[0])", "(x * 1 {} y)"))
        if not is_too_large("<<" if "<" in sign else text, names):
            body = f"def f(x, y, z):\n    r = {text.format(sign)}\n    return r, z * 2\n"
            if not (sign in ("is", "is not") and not {"tuple", "'ab'"}.isdisjoint(names)):
                same(body, names, text.format(sign))


def test_augmented_assignments():
    for choose in drawn("augmented"):
        names, sign = choose.choices(NAMES, k=2), choose.choice(INPLACE)
        if not HUGE & set(names):
            body = f"def f(x, y, z):\n    w = x\n    x {sign} y\n    return x, w, z * 2\n"
            same(body, names, sign)


@pytest.mark.parametrize("law", ["UNARY", "OF_TWO"])
def test_builtins(law):
    for choose in drawn(law, 2 * CASES):
        text = choose.choice(globals()[law]).strip()
        names = choose.choices(NAMES, k=1 if law == "UNARY" else 2)
        if not is_too_large(text, names):
            first = choose.choice(("x", "(x,)[0]", "[x][0]"))
            given = "x" if law == "UNARY" else "x, y"
            body = f"def f({given}, z):\n    x = {first}\n    r = {text}\n    return r, z * 2\n"
            same(body, names, text)


def test_functions_of_numpy():
    made = 0
    for choose in drawn("functions", 40 * CASES):
        name, names = choose.choice(FUNCTIONS), choose.choices(NAMES, k=choose.choice((1, 1, 2, 3)))
        if made == 2 * CASES:
            break
        if (HUGE & set(names)) and name in SIZES:
            continue
        if choose.random() < 0.9 and is_refused(name, names):
            continue
        made += 1
        given = ", ".join(f"x{number}" for number in range(len(names)))
        body = f"def f({given}, z):\n    r = np.{name}({given})\n    return r, type(r), z * 2\n"
        same(body, names, name)
    assert made == 2 * CASES


def is_refused(name, names):
    """Whether NumPy raises, as it does for most arguments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            getattr(np, name)(*map(values().__getitem__, names))
    except Exception:
        return True
    return False
