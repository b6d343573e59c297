"""Continuous distributions, made of uniform and normal numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from runmat_jit.random.parameters import Array, parameters, refuse_unless, rounds
from runmat_jit.random.stream import Size, Stream, check_out, fill, float_dtype


class Continuous(Stream):
    """Draws from continuous distributions; arguments and errors are those of NumPy's methods."""

    # -- of one uniform or normal number ---------------------------------------------------------
    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Size = None) -> Any:
        """Numbers of [low, high)."""
        given = parameters(size, low=low, high=high)
        first, end = given.values
        if not np.all(np.isfinite(end - first)):
            single = np.ndim(low) == np.ndim(high) == 0
            raise OverflowError(f"{'high - low range' if single else 'Range'} exceeds valid bounds")
        refuse_unless(_not_negative, "high - low < 0", end - first)
        return given.result(first + (end - first) * self.random(given.count))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Normal numbers of a mean and a deviation."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, loc=loc, scale=scale)
        mean, deviation = given.values
        return given.result(mean + deviation * self.standard_normal(given.count))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None) -> Any:
        """Numbers whose logarithm is normal."""
        refuse_unless(_not_negative, "sigma < 0", sigma)
        given = parameters(size, mean=mean, sigma=sigma)
        middle, deviation = given.values
        return given.result(np.exp(middle + deviation * self.standard_normal(given.count)))

    def standard_exponential(
        self, size: Size = None, dtype: Any = np.float64, method: str = "zig", out: Any = None
    ) -> Any:
        """Exponential numbers of mean 1, by inversion whatever ``method`` says."""
        if method not in ("zig", "inv"):
            raise ValueError(f"method must be 'zig' or 'inv', not {method!r}")
        drawn = self._floats("random_uniform", "standard_exponential", size, dtype, out)
        if isinstance(drawn, float):
            return -float(np.log1p(-drawn))
        np.log1p(np.negative(drawn, out=drawn), out=drawn)
        return np.negative(drawn, out=drawn)

    def exponential(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Exponential numbers of a mean."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, scale=scale)
        return given.result(given.values[0] * self.standard_exponential(given.count))

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Numbers whose distance from a place is exponential, on either side."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, loc=loc, scale=scale)
        side = 2 * self._open(given.count) - 1
        return given.result(
            given.values[0] - given.values[1] * np.copysign(np.log1p(-np.abs(side)), side)
        )

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Numbers of the logistic distribution."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, loc=loc, scale=scale)
        u = self._open(given.count)
        return given.result(given.values[0] + given.values[1] * (np.log(u) - np.log1p(-u)))

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None) -> Any:
        """Numbers of Gumbel's distribution, that of extremes."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, loc=loc, scale=scale)
        exponential = -np.log(self._open(given.count))
        return given.result(given.values[0] - given.values[1] * np.log(exponential))

    def rayleigh(self, scale: Any = 1.0, size: Size = None) -> Any:
        """Lengths of vectors of two normal numbers."""
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, scale=scale)
        exponential = self.standard_exponential(given.count)
        return given.result(given.values[0] * np.sqrt(2 * exponential))

    def weibull(self, a: Any, size: Size = None) -> Any:
        """Numbers of Weibull's distribution of a shape."""
        refuse_unless(_not_negative, "a < 0", a)
        given = parameters(size, a=a)
        exponential, (shape,) = self.standard_exponential(given.count), given.values
        with np.errstate(divide="ignore", over="ignore"):
            return given.result(np.where(shape == 0, 0.0, exponential ** (1 / shape)))

    def pareto(self, a: Any, size: Size = None) -> Any:
        """Numbers of Pareto's second distribution (Lomax's) of a shape."""
        refuse_unless(_positive, "a <= 0", a)
        given = parameters(size, a=a)
        return given.result(np.expm1(self.standard_exponential(given.count) / given.values[0]))

    def power(self, a: Any, size: Size = None) -> Any:
        """Numbers of [0, 1] whose a-th powers are uniform."""
        refuse_unless(_positive, "a <= 0", a)
        given = parameters(size, a=a)
        return given.result(np.exp(-self.standard_exponential(given.count) / given.values[0]))

    def standard_cauchy(self, size: Size = None) -> Any:
        """Quotients of two normal numbers."""
        given = parameters(size)
        return given.result(np.tan(np.pi * (self._open(given.count) - 0.5)))

    def triangular(self, left: Any, mode: Any, right: Any, size: Size = None) -> Any:
        """Numbers whose density rises from ``left`` to ``mode`` and falls to ``right``."""
        given = parameters(size, left=left, mode=mode, right=right)
        low, middle, high = given.values
        if np.any(low > middle):
            raise ValueError("left > mode")
        if np.any(middle > high):
            raise ValueError("mode > right")
        if np.any(low == high):
            raise ValueError("left == right")
        u, width = self.random(given.count), high - low
        rising = low + np.sqrt(u * width * (middle - low))
        falling = high - np.sqrt((1 - u) * width * (high - middle))
        return given.result(np.where(u * width <= middle - low, rising, falling))

    # -- of gammas -------------------------------------------------------------------------------
    def standard_gamma(
        self, shape: Any, size: Size = None, dtype: Any = np.float64, out: Any = None
    ) -> Any:
        """Gamma numbers of a shape and scale 1; computed in float64."""
        kind = float_dtype(dtype, "standard_gamma")
        if out is not None:
            check_out(out, kind, size)
            size = out.shape
        refuse_unless(_not_negative, "shape < 0", shape)
        given = parameters(size, shape=shape)
        drawn = np.exp(self._log_gammas(given.values[0])).astype(kind, copy=False)
        return given.result(drawn) if out is None else fill(out, drawn)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Size = None) -> Any:
        """Gamma numbers of a shape and a scale."""
        refuse_unless(_not_negative, "shape < 0", shape)
        refuse_unless(_not_negative, "scale < 0", scale)
        given = parameters(size, shape=shape, scale=scale)
        return given.result(np.exp(self._log_gammas(given.values[0])) * given.values[1])

    def chisquare(self, df: Any, size: Size = None) -> Any:
        """Sums of so many squares of normal numbers."""
        refuse_unless(_positive, "df <= 0", df)
        given = parameters(size, df=df)
        return given.result(2 * np.exp(self._log_gammas(given.values[0] / 2)))

    def beta(self, a: Any, b: Any, size: Size = None) -> Any:
        """Shares that one gamma number has in the sum of two."""
        refuse_unless(_positive, "a <= 0", a)
        refuse_unless(_positive, "b <= 0", b)
        given = parameters(size, a=a, b=b)
        one, other = map(self._log_gammas, given.values)
        with np.errstate(invalid="ignore"):  # of NaN
            return given.result(np.exp(one - np.logaddexp(one, other)))

    def f(self, dfnum: Any, dfden: Any, size: Size = None) -> Any:
        """Quotients of two means of squares of normal numbers."""
        refuse_unless(_positive, "dfnum <= 0", dfnum)
        refuse_unless(_positive, "dfden <= 0", dfden)
        given = parameters(size, dfnum=dfnum, dfden=dfden)
        one, other = (self._log_gammas(df / 2) - np.log(df) for df in given.values)
        return given.result(np.exp(one - other))

    def standard_t(self, df: Any, size: Size = None) -> Any:
        """Normal numbers divided by deviations that are estimated with so many others."""
        refuse_unless(_positive, "df <= 0", df)
        given = parameters(size, df=df)
        (freedom,) = given.values
        normal = self.standard_normal(given.count)
        return given.result(normal * np.sqrt(freedom / 2 / np.exp(self._log_gammas(freedom / 2))))

    def dirichlet(self, alpha: Any, size: Size = None) -> Any:
        """Vectors of shares that gamma numbers have in their sum."""
        weights = np.asarray(alpha, np.float64)
        if weights.ndim != 1:
            raise ValueError("alpha must be a one-dimensional sequence")
        refuse_unless(_not_negative, "alpha < 0", weights)
        shape = (*parameters(size).shape, weights.size)
        logs = self._log_gammas(np.broadcast_to(weights, shape).ravel()).reshape(shape)
        most = logs.max(axis=-1, keepdims=True, initial=-np.inf)
        shares = np.exp(logs - np.where(np.isfinite(most), most, 0))
        total = shares.sum(axis=-1, keepdims=True)
        return np.divide(shares, total, out=shares, where=total != 0)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> Array:
        """Normal vectors of a mean and a covariance."""
        from runmat_jit.random.covariance import factor_of  # noqa: PLC0415  (rarely needed)

        middle, factor = factor_of(mean, cov, check_valid, tol, method)
        normal = self.standard_normal((*parameters(size).shape, middle.size))
        drawn: Array = middle + normal @ factor.T
        return drawn

    # -- pieces ----------------------------------------------------------------------------------
    def _open(self, count: int) -> Array:
        """Uniform numbers of (0, 1)."""
        drawn: Array = self.random(count)
        drawn += 2.0**-54
        return drawn

    def _log_gammas(self, shape: Array) -> Array:
        """Logarithms of gamma numbers, by Marsaglia and Tsang's method of squeezed normals.

        Those of a shape below 1 are made of the next greater one's: they may be less than any
        number is, and their logarithms are not.
        """
        raised = np.where(shape < 1, shape + 1, shape) - 1 / 3
        narrow = 1 / np.sqrt(9 * raised)

        def attempt(places: Array) -> tuple[Array, Array]:
            of, normal = raised[places], self.standard_normal(places.size)
            cube = (1 + narrow[places] * normal) ** 3
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(cube)
                bound = normal * normal / 2 + of * (1 - cube + logs)
                accepted = (cube > 0) & (np.log(self._open(places.size)) < bound)
                return np.log(of) + logs, accepted | ~np.isfinite(of)

        found = rounds(shape.size, attempt)
        few = np.flatnonzero(shape < 1)
        if few.size:
            with np.errstate(divide="ignore"):
                found[few] += np.log(self._open(few.size)) / shape[few]
        return found


def _not_negative(value: Array) -> Any:
    return np.isnan(value) | ~np.signbit(value)


def _positive(value: Array) -> Any:
    return ~(value <= 0)
