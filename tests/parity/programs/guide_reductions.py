"""Programs after NumPy's guide: reductions and statistics."""

import numpy as np

from tests.parity.program import integers, normal, positive, program, two_normal

TABLES = ((4, 6), (11, 19))
VOLUMES = ((3, 4, 5), (6, 7, 3))


@program(positive, shapes=VOLUMES)
def sums_over_axes(volume):
    return (
        volume.sum(),
        volume.sum(axis=0),
        volume.sum(axis=(0, 2)),
        volume.sum(axis=-1, keepdims=True),
        np.sum(volume, axis=1, dtype=np.float64),
    )


@program(positive, shapes=((300,), (2000,)), dtypes=("float64", "float32"))
def products_that_leave_the_range(x):
    """In another order of the factors they would be NaN, or 0 where NumPy has infinity."""
    falling, rising = x * 1e-40, x * 1e40
    both = np.concatenate([falling, rising])
    return (
        np.prod(both),
        np.stack([both, both[::-1]]).prod(axis=1),
        both.reshape(-1, 4).prod(axis=0),
    )


@program(positive, shapes=TABLES)
def reductions_of_selected_elements(table):
    large = table > 1
    total = table.sum(where=large)
    peak = table.max(axis=0, where=large, initial=-1)
    share = np.mean(table, axis=1, where=table < 1.9)
    return total, peak, share, table.prod(initial=2, where=~large)


@program(integers, dtypes=("int64", "int8"), shapes=TABLES)
def integer_reductions(counts):
    total = counts.sum()
    return total, counts.prod(axis=0), counts.min(), counts.mean(), total.dtype, counts.max(axis=1)


@program(normal, shapes=TABLES)
def extrema_and_places(table):
    flat = table.argmax()
    rows = np.argmin(table, axis=0)
    low, high = table.min(axis=1), table.max(axis=1)
    return flat, rows, high - low, np.ptp(table), np.unravel_index(flat, table.shape)


@program(positive, shapes=TABLES)
def moments_of_columns(table):
    return table.mean(axis=0), table.std(axis=0), table.var(axis=0, ddof=1), np.std(table)


@program(normal)
def robust_statistics(x):
    center = np.median(x)
    spread = np.median(np.abs(x - center))
    low, high = np.percentile(x, [10, 90])
    kept = x[(x >= low) & (x <= high)]
    return center, spread, np.quantile(x, 0.25), kept.size


@program(two_normal)
def correlation_of_two_series(a, b):
    both = np.corrcoef(a, b)
    covariance = np.cov(np.stack([a, b]))
    by_hand = ((a - a.mean()) * (b - b.mean())).mean() / (a.std() * b.std())
    return both.shape, covariance, np.abs(by_hand) <= 1


@program(normal)
def histogram_of_values(x):
    counts, edges = np.histogram(x, bins=7, range=(-3, 3))
    density = counts / (counts.sum() * np.diff(edges))
    return counts, density, np.digitize(x, edges)


@program(integers, dtypes=("int64", "int32"))
def frequencies(n):
    counts = np.bincount(n + 9, minlength=19)
    mode = counts.argmax() - 9
    weighted = np.bincount(np.abs(n), weights=n * 0.5)
    return counts, mode, weighted


@program(normal)
def questions_about_all(x):
    y = x > -0.5
    return y.all(), y.any(), np.all(np.isfinite(x)), y.sum(), np.count_nonzero(y), ~y.any(axis=0)


@program(positive)
def weighted_average(x):
    weights = np.arange(1, len(x) + 1)
    average = np.average(x, weights=weights)
    by_hand = (x * weights).sum() / weights.sum()
    return average, by_hand


@program(positive)
def means_of_several_kinds(x):
    arithmetic = x.mean()
    geometric = np.exp(np.log(x).mean())
    harmonic = len(x) / (1 / x).sum()
    return arithmetic, geometric, harmonic, np.sqrt((x * x).mean())


@program(normal, shapes=((0,), (0, 3)))
def reductions_of_nothing(x):
    total = x.sum(), x.prod(), np.all(x > 0)
    try:
        x.max()
    except ValueError as error:
        return total, str(error)


@program(normal, shapes=((0,), (0, 3)))
def mean_of_nothing_warns(x):
    return np.mean(x), x.sum(axis=0)


@program(normal)
def running_statistics(x):
    n = np.arange(1, len(x) + 1)
    mean = np.cumsum(x) / n
    square = np.cumsum(x * x) / n
    return mean, square - mean**2, np.cumprod(np.sign(x)), np.diff(x, n=2)


@program(positive)
def numerical_integration(y):
    x = np.linspace(0, 1, len(y))
    area = np.trapezoid(y, x)
    slope = np.gradient(y, x)
    return area, slope, np.ediff1d(y, to_begin=0)


@program(lambda rng, shape, dtype: (rng.normal(size=shape).astype(dtype) > 0,))
def reductions_of_booleans(flags):
    return flags.sum(), flags.mean(), np.logical_or.reduce(flags), flags.argmax(), flags.prod()
