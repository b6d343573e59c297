"""Registration of the programs under ``programs/``: plain NumPy functions and the data they get.

    @program(normal, shapes=((12,), (257,)), dtypes=("float64", "float32"))
    def moving_average(x, width=5): ...

A *make* function gives the arguments: ``make(rng, shape, dtype)``, a tuple of positional
arguments or ``(args, kwargs)``. It is called anew for every call, with equally seeded generators,
and may set the globals that the program reads. Floats are compared within a bound of the dtype of
each result: a program keeps float32 results in float32 arrays, and sums no terms that cancel, or
says how many times that amplifies a rounding.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.capture.behavior import RELATIVE

PROGRAMS = Path(__file__).parent / "programs"
SHAPES = ((12,), (257,))
DTYPES = ("float64", "float32")
_registry = {}


@dataclass(frozen=True, slots=True)
class Program:
    """A function and the data it is run on."""

    name: str
    fn: Callable
    make: Callable
    shapes: tuple
    dtypes: tuple
    differs: str
    """Why it is known not to do what NumPy does; empty: it does."""
    amplified: Callable
    """How many times a rounding counts in its result, by its arguments."""

    def arguments(self, seed, shape, dtype):
        """Fresh arguments: positional ones and keywords."""
        made = self.make(np.random.default_rng(seed), shape, np.dtype(dtype))
        if len(made) == 2 and isinstance(made[0], tuple) and isinstance(made[1], dict):
            return made
        return made, {}


def not_amplified(*_args, **_kwargs):
    """A rounding counts once."""
    return 1.0


def rounded_as_given(x, *_args, **_kwargs):
    """A rounding counts as one of the arguments' dtype, in results of float64 too."""
    return RELATIVE[x.dtype.char] / RELATIVE["d"]


def of_products(*_args, **_kwargs):
    """Sums of products are rounded in another order; some are differences of nearly equal ones."""
    return 64.0


def program(make, *, shapes=SHAPES, dtypes=DTYPES, differs="", amplified=not_amplified):
    """Register a function as a program; the function stays as it is.

    Args:
        make: Gives the arguments, see above.
        shapes: What ``make`` gets as shape; each must give data of the same kind.
        dtypes: What ``make`` gets as dtype.
        differs: A known difference from NumPy, listed on the coverage page; the program's test
            then fails when there is none.
        amplified: How many times a rounding counts in its result, by its arguments.

    """

    def register(fn):
        name = f"{fn.__module__.rpartition('.')[2]}.{fn.__name__}"
        known = _registry.get(name)
        assert known is None or known.fn.__code__ == fn.__code__, f"two programs are named {name}"
        _registry[name] = Program(name, fn, make, tuple(shapes), tuple(dtypes), differs, amplified)
        return fn

    return register


def programs():
    """All programs by name, of every module under ``programs/``."""
    for path in sorted(PROGRAMS.glob("*.py")):
        importlib.import_module(f"tests.parity.programs.{path.stem}")
    return dict(sorted(_registry.items()))


# -- data ------------------------------------------------------------------------------------------
def normal(rng, shape, dtype):
    """One array of both signs."""
    return (rng.normal(size=shape).astype(dtype),)


def positive(rng, shape, dtype):
    """One array of values from 0.5 to 2."""
    return (rng.uniform(0.5, 2.0, shape).astype(dtype),)


def two_normal(rng, shape, dtype):
    """Two arrays of one shape."""
    return normal(rng, shape, dtype) + normal(rng, shape, dtype)


def three_normal(rng, shape, dtype):
    """Three arrays of one shape."""
    return two_normal(rng, shape, dtype) + normal(rng, shape, dtype)


def integers(rng, shape, dtype):
    """One array of the values -9 to 9, integers even where ``dtype`` is of floats."""
    return (rng.integers(-9, 10, shape).astype(dtype),)


def with_gaps(rng, shape, dtype):
    """One array, a quarter of which is NaN."""
    x = rng.normal(size=shape).astype(dtype)
    x[rng.random(shape) < 0.25] = np.nan
    return (x,)
