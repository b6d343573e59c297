"""Programs after NumPy's guide: missing values, special values, floating-point errors."""

import warnings

import numpy as np

from tests.parity.program import normal, program, two_normal, with_gaps

TABLES = ((5, 6), (12, 9))


def with_zeros(rng, shape, dtype):
    x = rng.normal(size=shape).astype(dtype)
    x[rng.random(shape) < 0.3] = 0
    return (x,)


@program(with_gaps)
def statistics_without_gaps(x):
    known = x[~np.isnan(x)]
    return np.nanmean(x), np.nanmax(x), known.size, np.nansum(x * x), np.nanstd(x)


@program(with_gaps)
def fill_gaps_with_mean(x):
    gaps = np.isnan(x)
    mean = np.where(gaps, 0, x).sum() / (~gaps).sum()
    x[gaps] = mean
    return x, gaps.sum()


@program(with_gaps)
def interpolate_gaps(x):
    gaps = np.isnan(x)
    places = np.arange(len(x))
    x[gaps] = np.interp(places[gaps], places[~gaps], x[~gaps])
    return x


@program(with_gaps, shapes=TABLES)
def rows_without_gaps(table):
    complete = ~np.isnan(table).any(axis=1)
    filled = np.nan_to_num(table, nan=-1.0)
    return table[complete], filled, np.nanmedian(table, axis=0), np.nanargmax(filled, axis=1)


@program(with_gaps)
def comparisons_with_nan(x):
    return x == x, x < 0, np.maximum(x, 0), np.fmax(x, 0), x.max(), np.sort(x)[-1], np.sign(x)


@program(with_zeros)
def division_warns(x):
    y = 1 / x
    z = x / x
    return y, np.isinf(y).sum(), z


@program(with_zeros)
def division_under_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x != 0, 1 / x, 0)
        logs = np.log(np.abs(x))
    return y, np.isneginf(logs)


@program(with_zeros)
def raises_for_division_by_zero(x):
    with np.errstate(divide="raise"):
        return np.sum(1 / x)


@program(with_zeros)
def catches_a_floating_point_error(x):
    try:
        with np.errstate(all="raise"):
            return np.sqrt(x)
    except FloatingPointError as error:
        return str(error), np.sqrt(np.abs(x))


@program(normal)
def logarithm_of_negative_numbers(x):
    logs = np.log(x)
    return np.where(np.isnan(logs), 0, logs)


@program(normal)
def overflow_and_underflow(x):
    huge = np.exp(x * 1000)
    tiny = x * np.finfo(x.dtype).tiny
    return np.isinf(huge), tiny / 4, np.square(huge)


@program(normal)
def warning_of_the_program_itself(x):
    if len(x) > 3:
        warnings.warn("more than three values", stacklevel=1)
    return x[:3] * 2


@program(normal)
def signed_zeros_and_infinities(x):
    zero = x * 0.0
    inf = np.copysign(np.inf, x)
    return zero, 1 / inf, np.signbit(zero), inf + 1, np.arctan2(zero, -1.0), np.isposinf(inf)


@program(two_normal)
def masked_thinking(x, y):
    bad = np.abs(x) > 1.5
    safe = np.where(bad, np.nan, x)
    return safe - y, np.nanmin(safe), np.count_nonzero(bad), np.isfinite(safe) & (y > 0)


@program(normal)
def masked_array_inside(x):
    masked = np.ma.masked_greater(x, 0.5)
    return masked.mean(), masked.filled(0), masked.count()


@program(normal)
def constants(x):
    angle = x * np.pi / 180
    return np.sin(angle), np.e**x, np.isnan(np.nan), x[np.newaxis].shape, np.minimum(x, np.inf)


@program(with_zeros)
def first_zero_raises(x):
    if not np.all(x):
        place = int(np.flatnonzero(x == 0)[0])
        raise ValueError(f"a zero at {place}")
    return 1 / x
