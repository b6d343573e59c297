"""Statistics: tests, intervals, information, resampling with a given generator."""

import math

import numpy as np

from tests.parity.program import program


def sample(rng, shape, dtype):
    return (rng.normal(1.0, 2.0, shape).astype(dtype),)


def two_samples(rng, shape, dtype):
    a = rng.normal(0.0, 1.0, shape).astype(dtype)
    return a, rng.normal(0.4, 1.5, shape[0] + 3).astype(dtype)


def pairs(rng, shape, dtype):
    x = rng.normal(size=shape).astype(dtype)
    return x, (0.6 * x + rng.normal(size=shape)).astype(dtype)


def grouped(rng, shape, dtype):
    groups = np.concatenate([np.arange(3), rng.integers(0, 3, shape[0] - 3)])
    return rng.normal(groups, 1.0).astype(dtype), groups


def distributions(rng, shape, dtype):
    p, q = rng.dirichlet(np.full(shape[0], 2.0), 2).astype(dtype)
    return p, q


def sample_and_generator(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype), np.random.default_rng(rng.integers(1000))


@program(sample)
def describe(x):
    n = x.size
    mean = x.mean()
    centered = x - mean
    m2, m3, m4 = (np.mean(centered**k) for k in (2, 3, 4))
    return {
        "n": n,
        "mean": mean,
        "variance": x.var(ddof=1),
        "skewness": m3 / m2**1.5,
        "kurtosis": m4 / m2**2 - 3,
        "range": (x.min(), x.max()),
    }


@program(sample, shapes=((12,), (40,)))
def welford(x):
    count, mean, m2 = 0, 0.0, 0.0
    for value in x:
        count += 1
        delta = value - mean
        mean += delta / count
        m2 += delta * (value - mean)
    return mean, math.sqrt(m2 / (count - 1))


@program(two_samples)
def welch_t_test(a, b):
    va, vb = a.var(ddof=1) / len(a), b.var(ddof=1) / len(b)
    t = (a.mean() - b.mean()) / np.sqrt(va + vb)
    freedom = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    if abs(t) > 2:
        return t, freedom, "different"
    return t, freedom, "not shown"


@program(grouped)
def one_way_anova(values, groups):
    grand = values.mean()
    between = within = 0.0
    labels = np.unique(groups)
    for label in labels:
        members = values[groups == label]
        between += len(members) * (members.mean() - grand) ** 2
        within += ((members - members.mean()) ** 2).sum()
    k, n = len(labels), len(values)
    return (between / (k - 1)) / (within / (n - k)), between / (between + within)


@program(grouped)
def group_means(values, groups):
    counts = np.bincount(groups)
    sums = np.bincount(groups, weights=values)
    means = sums / counts
    deviation = values - means[groups]
    largest = {int(g): values[groups == g].max() for g in np.unique(groups)}
    return means, np.sqrt(np.bincount(groups, weights=deviation**2) / counts), largest


@program(pairs)
def regression_with_standard_errors(x, y):
    design = np.c_[np.ones_like(x), x]
    inverse = np.linalg.inv(design.T @ design)
    beta = inverse @ (design.T @ y)
    residual = y - design @ beta
    s2 = residual @ residual / (len(y) - 2)
    errors = np.sqrt(s2 * np.diag(inverse))
    return beta, errors, beta / errors


@program(pairs)
def correlations(x, y):
    pearson = ((x - x.mean()) * (y - y.mean())).mean() / (x.std() * y.std())
    rank_x, rank_y = x.argsort().argsort(), y.argsort().argsort()
    n = len(x)
    spearman = 1 - 6 * np.sum((rank_x - rank_y) ** 2) / (n * (n * n - 1))
    concordant = np.sign(np.subtract.outer(x, x) * np.subtract.outer(y, y)).sum()
    return pearson, spearman, concordant / (n * (n - 1))


@program(sample)
def quantiles_by_hand(x):
    ordered = np.sort(x)
    probabilities = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
    position = probabilities * (len(x) - 1)
    low = np.floor(position).astype(int)
    high = np.minimum(low + 1, len(x) - 1)
    fraction = position - low
    found = ordered[low] * (1 - fraction) + ordered[high] * fraction
    assert np.allclose(found, np.quantile(x, probabilities), rtol=1e-4)
    return found, found[3] - found[1]


@program(sample)
def outliers_and_winsorizing(x, limit=1.5):
    q1, median, q3 = np.percentile(x, [25, 50, 75])
    low, high = q1 - limit * (q3 - q1), q3 + limit * (q3 - q1)
    outside = (x < low) | (x > high)
    x[outside] = np.clip(x[outside], low, high)
    return int(outside.sum()), np.median(np.abs(x - median))


@program(distributions)
def entropy_and_divergences(p, q):
    entropy = -np.sum(p * np.log2(p))
    kl = np.sum(p * np.log(p / q))
    m = (p + q) / 2
    js = 0.5 * (np.sum(p * np.log(p / m)) + np.sum(q * np.log(q / m)))
    hellinger = np.sqrt(np.sum((np.sqrt(p) - np.sqrt(q)) ** 2)) / math.sqrt(2)
    return entropy, kl, js, hellinger, 0.5 * np.abs(p - q).sum()


@program(pairs)
def mutual_information(x, y, bins=4):
    joint, _, _ = np.histogram2d(x, y, bins=bins)
    joint /= joint.sum()
    px, py = joint.sum(axis=1, keepdims=True), joint.sum(axis=0, keepdims=True)
    positive = joint > 0
    ratio = joint[positive] / (px * py)[positive]
    return float((joint[positive] * np.log(ratio)).sum())


@program(sample)
def kernel_density(x):
    grid = np.linspace(-5, 7, 25, dtype=x.dtype)
    bandwidth = 1.06 * x.std() * len(x) ** (-1 / 5)
    z = (grid[:, None] - x[None, :]) / bandwidth
    density = np.exp(-0.5 * z * z).sum(axis=1) / (len(x) * bandwidth * math.sqrt(2 * math.pi))
    return density, grid[density.argmax()]


@program(two_samples)
def kolmogorov_smirnov(a, b):
    together = np.concatenate([a, b])
    together.sort()
    share_a = np.searchsorted(np.sort(a), together, side="right") / a.size
    share_b = np.searchsorted(np.sort(b), together, side="right") / b.size
    return np.abs(share_a - share_b).max()


@program(lambda rng, shape, dtype: (rng.integers(5, 30, (3, 4)), dtype.type(0.5)))
def chi_square_of_a_table(observed, correction):
    expected = observed.sum(axis=1, keepdims=True) * observed.sum(axis=0) / observed.sum()
    gap = np.maximum(np.abs(observed - expected) - correction, 0)
    statistic = (gap**2 / expected).sum()
    freedom = (observed.shape[0] - 1) * (observed.shape[1] - 1)
    cramer = np.sqrt(statistic / (observed.sum() * (min(observed.shape) - 1)))
    return statistic, freedom, cramer


@program(sample_and_generator)
def bootstrap_interval(x, rng):
    means = np.empty(40, dtype=x.dtype)
    for k in range(40):
        means[k] = rng.choice(x, size=len(x)).mean()
    low, high = np.sort(means)[[0, -2]]
    return low, high, means.std(ddof=1)


@program(sample_and_generator)
def permutation_test(x, rng, rounds=20):
    half = len(x) // 2
    observed = x[:half].mean() - x[half:].mean()
    shuffled = x.copy()
    extreme = 0
    for _ in range(rounds):
        rng.shuffle(shuffled)
        difference = shuffled[:half].mean() - shuffled[half:].mean()
        if abs(difference) >= abs(observed):
            extreme += 1
    return observed, (extreme + 1) / (rounds + 1)


@program(sample, amplified=len)  # the bias is n times a difference of two that are nearly equal
def jackknife_of_variance(x):
    n = len(x)
    x = x.astype(np.float64)
    total, squares = x.sum(), (x**2).sum()
    left_out = (squares - x**2) / (n - 1) - ((total - x) / (n - 1)) ** 2
    estimate = squares / n - (total / n) ** 2
    bias = (n - 1) * (left_out.mean() - estimate)
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    return estimate - bias, error


@program(lambda rng, shape, dtype: (rng.gamma(2.0, 1.5, shape).astype(dtype),))
def gamma_shape_by_newton(x):
    """Maximum likelihood with an approximate digamma function."""
    s = np.log(x.mean()) - np.log(x).mean()
    k = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
    for _ in range(3):
        digamma = np.log(k) - 1 / (2 * k) - 1 / (12 * k**2)
        trigamma = 1 / k + 1 / (2 * k**2) + 1 / (6 * k**3)
        k = k - (np.log(k) - digamma - s) / (1 / k - trigamma)
    return k, x.mean() / k
