"""Random numbers: NumPy's Philox generator, seeded by ``rng``.

The numbers are not MATLAB's: its Mersenne Twister streams are not reproduced. A seed gives the same
numbers on each machine.
"""

from __future__ import annotations

import secrets

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.builtins.sizes import read_size, split_class
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Struct, Value
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import row, struct, text, wrap
from matlab_frontend.values.read import integer_of, is_text, known, number_of, text_of


@builtin("rng")
def rng(call: Call, seed: Value = 0.0, generator: Value | None = None) -> Value | None:
    """Begin the random numbers of a seed; ``'default'`` is 0, ``'shuffle'`` differs each time."""
    session = call.session
    state = struct({"Type": text("philox"), "Seed": float(session.seeded_with)})
    if call.outputs and seed == 0.0 and generator is None:
        return state
    if isinstance(seed, Struct):
        seed = seed.data.item().get("Seed", 0.0)
    if is_text(seed):
        word = text_of(seed)
        session.seed(secrets.randbits(32) if word == "shuffle" else 0)
    else:
        session.seed(integer_of(call.engine, seed, "The seed"))
    return state if call.outputs else None


def _shape(call: Call, arguments: tuple[Value, ...]) -> tuple[tuple[int, ...], str]:
    if arguments and is_text(arguments[0]):  # rand('seed', 1), rand('state', 1)
        if len(arguments) > 1 and text_of(arguments[0]) in ("seed", "state", "twister"):
            call.session.seed(integer_of(call.engine, arguments[1], "The seed"))
            return (0, 0), "double"
        return (1, 1), split_class(arguments, "double")[1]
    sizes, kind = split_class(arguments, "double")
    return read_size(call.engine, sizes), kind


@builtin("rand")
def rand(call: Call, *arguments: Value) -> Value | None:
    """Uniform random numbers between 0 and 1."""
    shape, kind = _shape(call, arguments)
    made = call.session.random().random(shape[::-1], dtype=DTYPES[kind])
    return wrap(kind, made)


@builtin("randn")
def randn(call: Call, *arguments: Value) -> Value | None:
    """Standard normal random numbers."""
    shape, kind = _shape(call, arguments)
    made = call.session.random().standard_normal(shape[::-1], dtype=DTYPES[kind])
    return wrap(kind, made)


@builtin("randi")
def randi(call: Call, limits: Value, *arguments: Value) -> Value:
    """Random whole numbers from 1 to a limit, or between two limits."""
    bounds = known(call.engine, limits).ravel()
    low, high = (1.0, bounds[0]) if bounds.size == 1 else (bounds[0], bounds[1])
    if high < low:
        raise MatlabError("MATLAB:randi:invalidLimits", "The upper limit is below the lower one.")
    sizes, kind = split_class(arguments, "double")
    shape = read_size(call.engine, sizes)
    made = call.session.random().integers(int(low), int(high), shape[::-1], endpoint=True)
    return wrap(kind, made.astype(DTYPES[kind]))


@builtin("randperm")
def randperm(call: Call, count: Value, chosen: Value | None = None) -> Value:
    """The numbers from 1 to a count in random order, or some of them."""
    n = integer_of(call.engine, count)
    k = n if chosen is None else integer_of(call.engine, chosen)
    return row(call.session.random().permutation(n)[:k] + 1.0)


@builtin("normrnd")
def normrnd(call: Call, mean: Value, deviation: Value, *sizes: Value) -> Value:
    """Normal random numbers with a mean and a standard deviation."""
    shape = read_size(call.engine, sizes)
    drawn = call.session.random().standard_normal(shape[::-1])
    return wrap("double", number_of(call.engine, mean) + number_of(call.engine, deviation) * drawn)
