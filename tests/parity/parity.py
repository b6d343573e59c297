"""Runs a program undecorated and decorated and compares everything that a caller can see.

Float results are compared to the bit where every compiled operation is bit-defined (and NumPy
computes the rest), else within the bound of :mod:`tests.capture.behavior`. Equal inputs must give
equal bits in every call.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import runmat_jit as runmat
from runmat_jit.api import JitFunction
from runmat_jit.capture.replay.steps import BatchStep, CallStep
from runmat_jit.capture.replay.tree import segments_of
from runmat_jit.loops.program import LoopCall
from runmat_jit.passes.fusion.own_products import own_product_of
from tests.capture.behavior import bits_of, compare, observe

CALLS = (0, 0, 1, 0, 2)
"""One call for each: the seed of its data."""


class DifferenceError(AssertionError):
    """A decorated program did something else; says which, on which data, and what."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """What a program is run on, but for the seed."""

    shape: tuple
    dtype: str
    layout: str = "as made"


def plain_layout(array):
    return array


def fortran(array):
    return array.copy(order="F")


def strided(array):
    """Every second element of a larger array, along each axis."""
    holder = np.zeros([2 * extent for extent in array.shape], array.dtype)
    view = holder[tuple([slice(None, None, 2)] * array.ndim)]
    view[...] = array
    return view


LAYOUTS = {"as made": plain_layout, "fortran": fortran, "strided": strided}


def configurations(program, *, whole):
    """Those of a test: all of them, or two that see each shape, dtype and layout change once."""
    first = Configuration(program.shapes[0], program.dtypes[0])
    if not whole:
        return first, Configuration(program.shapes[-1], program.dtypes[-1], "strided")
    return tuple(
        Configuration(shape, dtype, layout)
        for shape in program.shapes
        for dtype in program.dtypes
        for layout in LAYOUTS
    )


# -- one call --------------------------------------------------------------------------------------
def fresh_arguments(program, configuration, seed):
    args, kwargs = program.arguments(seed, configuration.shape, configuration.dtype)
    change, done = LAYOUTS[configuration.layout], {}
    return laid_out(args, change, done), laid_out(kwargs, change, done)


def laid_out(value, change, done):
    """The same values in arrays of another layout; one array stays one array."""
    if type(value) is np.ndarray and value.ndim:
        if id(value) not in done:
            done[id(value)] = value, change(value)  # the key lives as long as its entry
        return done[id(value)][1]
    if type(value) in (tuple, list):
        return type(value)([laid_out(item, change, done) for item in value])
    if type(value) is dict:
        return {name: laid_out(item, change, done) for name, item in value.items()}
    return value


def seen_of(fn, args, kwargs):
    """An observation, and the states of all generators afterwards."""
    np.random.seed(12345)
    seen = observe(fn, args, kwargs)
    states = [np.random.get_state(legacy=False)]
    for value in (*args, *kwargs.values()):
        if isinstance(value, np.random.Generator):
            states.append(value.bit_generator.state)
        elif isinstance(value, np.random.RandomState):
            states.append(value.get_state(legacy=False))
    return seen, [bits_of(state) for state in states]


# -- a program -------------------------------------------------------------------------------------
def check(program, *configurations, jit: Callable = runmat.jit, decorated=None):
    """Compare calls of one decorated function, which is given back, on all configurations in turn.

    ``decorated`` is the function if there is one already.

    Raises:
        DifferenceError: they are not the same.

    """
    decorated = decorated or jit(program.fn)
    bits, held = {}, []
    for configuration in configurations:
        for seed in CALLS:
            where = f"data set {seed}, shape {configuration.shape}, {configuration.dtype}"
            try:
                found = compare_calls(program, decorated, configuration, seed)
                again = bits_of((found.result, found.args, found.kwargs))
                known = bits.setdefault((configuration, seed), again)
                assert known == again, "the bits depend on the call"
                held.append((found, again))
                for seen, before in held[-len(CALLS) :]:
                    after = bits_of((seen.result, seen.args, seen.kwargs))
                    assert after == before, "this call changed what an earlier one gave"
            except AssertionError as difference:
                raise DifferenceError(
                    f"{program.name} ({where}, {configuration.layout}): {difference}"
                ) from difference
    return decorated


def compare_calls(program, decorated, configuration, seed):
    """Compare one call of each function; what the decorated one did."""
    expected, states = seen_of(program.fn, *fresh_arguments(program, configuration, seed))
    found, states_found = seen_of(decorated, *fresh_arguments(program, configuration, seed))
    assert states_found == states, "the state of a generator"
    try:
        compare(expected, found, exact=True)
    except AssertionError:
        if expected.error or is_bit_defined(decorated):
            raise
        args, kwargs = fresh_arguments(program, configuration, seed)
        compare(expected, found, amplified=program.amplified(*args, **kwargs))
    return found


def is_bit_defined(decorated):
    """Whether every compiled operation of all calls so far has NumPy's bits by definition."""
    if not isinstance(decorated, JitFunction):
        return False
    if not decorated.cache_info().keys:  # all calls were plain Python
        return True
    records = list(decorated._captured[1].records.values())
    programs = [program for record in records for program in record.programs]
    for segment in [each for record in records for each in segments_of(record.root)]:
        programs += [step.program for step in segment.steps if isinstance(step, BatchStep)]
        calls = [step.fn for step in segment.steps if isinstance(step, CallStep)]
        if any(isinstance(call, LoopCall) and call.rounds for call in calls):
            return False
    regions = [region for p in programs for region in p.plan.regions]
    if any(own_product_of(region) is not None for region in regions):
        return False
    return all(node.op.exactness == "bit-defined" for region in regions for node in region.nodes)
