"""Special functions: gamma, beta, error functions, Bessel functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from matlab_frontend.builtins.elementwise import floating
from matlab_frontend.builtins.registry import Builtin, Call
from matlab_frontend.errors import MatlabError
from matlab_frontend.operators import broadcast_shape, narrow, result_kind
from matlab_frontend.values.array import Value, kind_of
from matlab_frontend.values.kinds import DTYPES
from matlab_frontend.values.make import wrap
from matlab_frontend.values.read import text_of


def _special() -> Any:
    from scipy import special  # noqa: PLC0415  (SciPy loads slowly and few programs need it)

    return special


def _one(name: str, function: Callable[[Any, np.ndarray], np.ndarray], doc: str) -> Builtin:
    """A function of one real array."""

    def run(call: Call, x: Value) -> Value:
        array = floating(call.engine, name, x)
        data = call.engine.look(array.data)
        if data.dtype.kind == "c":
            raise MatlabError(f"MATLAB:{name}:complex", "The input must be real.")
        made = function(_special(), data.astype(float))
        return wrap(array.kind, np.asarray(made, DTYPES[array.kind]))

    return Builtin(name, run, 1, 1, doc)


def _gammaln(special: Any, x: np.ndarray) -> np.ndarray:
    if np.any(x < 0):
        raise MatlabError("MATLAB:gammaln:Negative", "Input must be nonnegative.")
    return np.asarray(special.gammaln(x))


def _two(
    name: str, function: Callable[[Any, np.ndarray, np.ndarray], np.ndarray], doc: str
) -> Builtin:
    """A function of two arrays, with sizes that go together."""

    def run(call: Call, x: Value, y: Value) -> Value:
        broadcast_shape(x, y)
        a, b = (floating(call.engine, name, part) for part in (x, y))
        kind = result_kind(a, b)
        left, right = (call.engine.look(array.data).astype(float) for array in (a, b))
        made = np.asarray(function(_special(), left, right))
        dtype = DTYPES[kind] if made.dtype.kind != "c" else made.dtype
        return narrow(call.engine, kind, made.astype(dtype))

    return Builtin(name, run, 2, 2, doc)


def _gamma(special: Any, x: np.ndarray) -> np.ndarray:
    """The gamma function; infinite at the whole numbers below 1, as MATLAB has it."""
    pole = (x <= 0) & (x == np.floor(x)) & np.isfinite(x)
    made = np.where(pole, np.where(np.signbit(x) & (x == 0), -np.inf, np.inf), special.gamma(x))
    return np.asarray(made)


def _complex_below(x: np.ndarray) -> np.ndarray:
    """Numbers as complex ones where some are negative: Bessel functions may be complex there."""
    return x.astype(complex) if np.any(x < 0) else x


def _incomplete_gamma(call: Call, x: Value, a: Value, tail: Value | None = None) -> Value:
    """The incomplete gamma function of ``x`` with parameter ``a``."""
    word = "lower" if tail is None else text_of(tail)
    names = {"lower": "gammainc", "upper": "gammaincc"}
    if word not in names:
        raise MatlabError("MATLAB:gammainc:InvalidTailArg", f"Unknown tail '{word}'.")
    broadcast_shape(x, a)
    data, order = (
        call.engine.look(floating(call.engine, "gammainc", part).data).astype(float)
        for part in (x, a)
    )
    kind = "single" if "single" in (kind_of(x), kind_of(a)) else "double"
    return wrap(kind, np.asarray(getattr(_special(), names[word])(order, data), DTYPES[kind]))


GENERATED = (
    _one("gamma", _gamma, "The gamma function."),
    _one("gammaln", _gammaln, "The logarithm of the gamma function."),
    _one("psi", lambda s, x: s.digamma(x), "The derivative of the logarithm of gamma."),
    _one("erf", lambda s, x: s.erf(x), "The error function."),
    _one("erfc", lambda s, x: s.erfc(x), "One less the error function."),
    _one("erfcx", lambda s, x: s.erfcx(x), "The scaled complementary error function."),
    _one("erfinv", lambda s, x: s.erfinv(x), "The inverse of the error function."),
    _one("erfcinv", lambda s, x: s.erfcinv(x), "The inverse of erfc."),
    _two("beta", lambda s, x, y: s.beta(x, y), "The beta function."),
    _two("betaln", lambda s, x, y: s.betaln(x, y), "The logarithm of the beta function."),
    _two("besselj", lambda s, n, x: s.jv(n, _complex_below(x)), "Bessel functions J."),
    _two("bessely", lambda s, n, x: s.yv(n, _complex_below(x)), "Bessel functions Y."),
    _two("besseli", lambda s, n, x: s.iv(n, _complex_below(x)), "Bessel functions I."),
    _two("besselk", lambda s, n, x: s.kv(n, _complex_below(x)), "Bessel functions K."),
    Builtin("gammainc", _incomplete_gamma, 2, 3, "The incomplete gamma function."),
)
