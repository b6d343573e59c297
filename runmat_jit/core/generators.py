"""True if a value is a generator of random numbers, without loading what makes them."""

from __future__ import annotations

import sys
from typing import Any, Final

_BITS: Final = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""Generators of bits whose state is all that decides which come next."""

DRAWS: Final = frozenset(
    (
        *("random", "standard_normal", "standard_exponential", "standard_cauchy"),
        *("standard_gamma", "standard_t", "normal", "uniform", "exponential", "laplace"),
        *("logistic", "gumbel", "lognormal", "rayleigh", "gamma", "beta", "chisquare"),
        *(
            "pareto",
            "weibull",
            "power",
            "poisson",
            "geometric",
            "integers",
            "choice",
            "permutation",
        ),
    )
)
"""Methods of generators that draw numbers: each call gives others."""


def is_own_generator(kind: type) -> bool:
    """True if a class is :class:`runmat_jit.random.Generator`, where that has been loaded."""
    own = sys.modules.get("runmat_jit.random")
    return own is not None and kind is getattr(own, "Generator", None)


def is_numpys_generator(value: Any) -> bool:
    """True if a value is a ``numpy.random.Generator`` of bits of NumPy's own generators."""
    own = sys.modules.get("numpy.random")
    if own is None or type(value) is not own.Generator:
        return False
    kind = type(value.bit_generator)
    return kind.__name__ in _BITS and kind is getattr(own, kind.__name__, None)
