"""Random numbers of Philox4x32-10, the generator of ``runmat_jit.random``, seeded by ``rng``.

The numbers are not MATLAB's: its Mersenne Twister streams are not reproduced. A seed gives the same
numbers on each machine and device.
"""

from __future__ import annotations

import secrets

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import read_size, split_class
from matlab_frontend.concatenation import convert
from matlab_frontend.draws import Draw
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import ARITHMETIC, arithmetic
from matlab_frontend.session import Session
from matlab_frontend.values.array import Array, Shape, Struct, Value
from matlab_frontend.values.kinds import DTYPES, FLOAT_KINDS
from matlab_frontend.values.make import row, struct, text, wrap
from matlab_frontend.values.read import array_of, integer_of, is_text, known, text_of

_WORD = 2.0**63
"""Limits of random whole numbers are below."""
_GENERATORS = (
    *("twister", "simdTwister", "combRecursive", "multFibonacci", "philox", "threefry"),
    *("v4", "v5uniform", "v5normal"),
)
"""Names that ``rng`` takes; all mean the one generator there is."""


@builtin("rng")
def rng(call: Call, seed: Value | None = None, generator: Value | None = None) -> Value | None:
    """Begin the numbers of a seed (``'default'`` is 0, ``'shuffle'`` a new one) or of a state."""
    session = call.session
    before = _state(session) if call.outputs or seed is None else None
    if generator is not None and text_of(generator) not in _GENERATORS:
        raise MatlabError("MATLAB:rng:badSecondOpt", "The second input must name a generator.")
    if isinstance(seed, Struct):
        _restore(session, seed)
    elif seed is not None:
        session.seed(_seed(call, seed))
    return before


def _seed(call: Call, seed: Value) -> int:
    if is_text(seed):
        word = text_of(seed)
        if word == "shuffle":
            return secrets.randbits(32)
        if word == "default" or word in _GENERATORS:
            return 0
        raise _bad_seed()
    try:
        number = integer_of(call.engine, seed)
    except MatlabError:
        raise _bad_seed() from None
    if not 0 <= number < 1 << 32:
        raise _bad_seed()
    return number


def _bad_seed() -> MatlabError:
    return MatlabError(
        "MATLAB:rng:badFirstOpt",
        "First input must be a nonnegative integer seed less than 2^32, 'shuffle', 'default', a "
        "generator type, or a settings structure captured previously using S = RNG.",
    )


def _state(session: Session) -> Value:
    """The settings: generator, seed, and key and position of the stream."""
    now = session.random().state["state"]
    words = np.array([[now["key"], now["counter"]]], np.uint64)
    seed = float(session.seeded_with)
    return struct({"Type": text("philox"), "Seed": seed, "State": Array("uint64", words)})


def _restore(session: Session, settings: Struct) -> None:
    fields = settings.data.item() if settings.data.size == 1 else {}
    state = fields.get("State")
    if not isinstance(state, Array) or state.kind != "uint64" or state.data.size != 2:
        raise _bad_seed()
    key, counter = map(int, session.engine.look(state.data).ravel())
    session.seed(int(fields.get("Seed", 0.0)))
    generator = session.random()
    generator.state = generator.state | {"state": {"key": key, "counter": counter}}


def _shape(call: Call, arguments: tuple[Value, ...]) -> tuple[Shape, str]:
    """Size and class; ``rand('seed', 1)`` and its like seed, and draw nothing."""
    words = ("seed", "state", "twister")
    if len(arguments) > 1 and is_text(arguments[0]) and text_of(arguments[0]) in words:
        call.session.seed(_seed(call, arguments[1]))
        return (0, 0), "double"
    sizes, kind = split_class(arguments, "double")
    if kind not in FLOAT_KINDS:
        raise MatlabError("MATLAB:invalidInputClass", "The class must be 'double' or 'single'.")
    return read_size(call.engine, sizes), kind


def _floats(call: Call, draw: Draw, kind: str) -> Value:
    return wrap(kind, call.engine.draw(call.session.random(), draw))


@builtin("rand")
def rand(call: Call, *arguments: Value) -> Value | None:
    """Uniform random numbers between 0 and 1."""
    if not arguments:
        return float(call.session.draw_one("uniform"))
    shape, kind = _shape(call, arguments)
    return _floats(call, Draw("uniform", shape[::-1], DTYPES[kind]), kind)


@builtin("randn")
def randn(call: Call, *arguments: Value) -> Value | None:
    """Standard normal random numbers."""
    if not arguments:
        return float(call.session.draw_one("normal"))
    shape, kind = _shape(call, arguments)
    return _floats(call, Draw("normal", shape[::-1], DTYPES[kind]), kind)


@builtin("randi")
def randi(call: Call, limits: Value, *arguments: Value) -> Value:
    """Random whole numbers from 1 to a limit, or between two limits."""
    if type(limits) is float and not arguments and 1 <= limits < _WORD and limits.is_integer():
        return float((call.session.draw_one("bits") * int(limits) >> 64) + 1)
    bounds = known(call.engine, limits).ravel()
    whole = bounds.size in (1, 2) and all(np.isfinite(b) and b == int(b) for b in bounds)
    if not whole:
        raise MatlabError("MATLAB:randi:invalidLimits", "Limits must be one or two integers.")
    low, high = (1, int(bounds[0])) if bounds.size == 1 else map(int, bounds)
    if high < low:
        raise MatlabError("MATLAB:randi:invalidLimits", "The upper limit is below the lower one.")
    sizes, kind = split_class(arguments, "double")
    shape = read_size(call.engine, sizes)
    draw = Draw("integers", shape[::-1], DTYPES["int64"], low, high)
    drawn = Array("int64", call.engine.draw(call.session.random(), draw))
    return wrap(kind, convert(call.engine, drawn, kind))


@builtin("randperm")
def randperm(call: Call, count: Value, chosen: Value | None = None) -> Value:
    """The numbers from 1 to a count in random order, or some of them."""
    n = integer_of(call.engine, count)
    k = n if chosen is None else integer_of(call.engine, chosen)
    if not 0 <= k <= n:
        raise MatlabError("MATLAB:randperm:inputKTooLarge", "K must be between 0 and N.")
    limits = np.iinfo(np.int64)
    keys = call.session.random().integers(limits.min, limits.max, n, endpoint=True)
    return row(np.argsort(keys, kind="stable")[:k] + 1.0)


@builtin("normrnd")
def normrnd(call: Call, mean: Value, deviation: Value, *sizes: Value) -> Value:
    """Normal random numbers with a mean and a standard deviation."""
    both = arithmetic(call.engine, ARITHMETIC["+"], mean, deviation)
    shape = read_size(call.engine, sizes) if sizes else array_of(both).data.shape[::-1]
    drawn = _floats(call, Draw("normal", shape[::-1], DTYPES["double"]), "double")
    scaled = arithmetic(call.engine, ARITHMETIC[".*"], deviation, drawn)
    return arithmetic(call.engine, ARITHMETIC["+"], mean, scaled)
