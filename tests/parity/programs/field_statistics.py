"""Statistics: summaries, tests, estimators and resampling as people write them."""

import warnings
from collections import defaultdict

import numpy as np

from tests.parity.program import program


def sample(rng, shape, dtype):
    return (rng.normal(3, 2, shape).astype(dtype),)


def skewed(rng, shape, dtype):
    return (rng.gamma(2, 1, shape).astype(dtype),)


def two_samples(rng, shape, dtype):
    return rng.normal(0, 1, shape).astype(dtype), rng.normal(0.4, 1.5, shape).astype(dtype)


def counts_table(rng, shape, dtype):
    return (rng.integers(1, 40, shape).astype(dtype),)


@program(skewed, shapes=((10,), (1000,)), dtypes=("float64", "float32"))
def describe(x):
    q1, median, q3 = np.percentile(x, [25, 50, 75])
    centered = x - x.mean()
    m2, m3, m4 = (np.mean(centered**p) for p in (2, 3, 4))
    fences = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    outliers = x[(x < fences[0]) | (x > fences[1])]
    return dict(
        n=x.size,
        mean=x.mean(),
        std=x.std(ddof=1),
        median=median,
        iqr=q3 - q1,
        skew=m3 / m2**1.5,
        kurtosis=m4 / m2**2 - 3,
        outliers=np.sort(outliers),
    )


@program(two_samples, shapes=((8,), (300,)), dtypes=("float64", "float32"))
def welch_t(a, b):
    na, nb = len(a), len(b)
    va, vb = a.var(ddof=1) / na, b.var(ddof=1) / nb
    t = (a.mean() - b.mean()) / np.sqrt(va + vb)
    dof = (va + vb) ** 2 / (va**2 / (na - 1) + vb**2 / (nb - 1))
    verdict = "different" if abs(t) > 1.96 else "alike"
    return t, dof, verdict


@program(two_samples, shapes=((7,), (150,)), dtypes=("float64", "float32"))
def rank_correlation(a, b):
    def ranks(v):
        order = v.argsort()
        r = np.empty(len(v), dtype=float)
        r[order] = np.arange(len(v))
        return r

    ra, rb = ranks(a), ranks(b)
    rho = np.corrcoef(ra, rb)[0, 1]
    concordant = np.sign(a[:, None] - a) * np.sign(b[:, None] - b)
    tau = concordant.sum() / (len(a) * (len(a) - 1))
    return rho, tau


@program(sample, shapes=((12,), (200,)), dtypes=("float64", "float32"))
def bootstrap_interval(x, repeats=50, seed=7, level=0.9):
    rng = np.random.default_rng(seed)
    index = rng.integers(0, len(x), size=(repeats, len(x)))
    means = np.sort(x[index].mean(axis=1, dtype=float))
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return low, high, low <= x.mean() <= high


@program(counts_table, shapes=((2, 3), (6, 11)), dtypes=("int64", "float64"))
def chi_square(table):
    total = table.sum()
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0, keepdims=True) / total
    residual = (table - expected) / np.sqrt(expected)
    statistic = (residual**2).sum()
    dof = (table.shape[0] - 1) * (table.shape[1] - 1)
    worst = np.unravel_index(np.abs(residual).argmax(), table.shape)
    return statistic, dof, worst


@program(two_samples, shapes=((9,), (120,)), dtypes=("float64", "float32"))
def kolmogorov_smirnov(a, b):
    pooled = np.concatenate([np.sort(a), np.sort(b)])
    cdf_a = np.searchsorted(np.sort(a), pooled, side="right") / a.size
    cdf_b = np.searchsorted(np.sort(b), pooled, side="right") / b.size
    distance = np.max(np.abs(cdf_a - cdf_b))
    return distance, pooled[np.argmax(np.abs(cdf_a - cdf_b))]


def grouped(rng, shape, dtype):
    return rng.normal(10, 3, shape).astype(dtype), rng.integers(0, 4, shape)


@program(grouped, shapes=((16,), (400,), (1,)), dtypes=("float64", "float32"))
def one_way_anova(values, group):
    by_group = defaultdict(list)
    for value, g in zip(values.tolist(), group.tolist()):
        by_group[g].append(value)
    grand = values.mean()
    between = within = 0.0
    for g in sorted(by_group):
        members = np.array(by_group[g])
        between += len(members) * (members.mean() - grand) ** 2
        within += ((members - members.mean()) ** 2).sum()
    k = len(by_group)
    if k < 2:
        raise ValueError("one group only")
    sizes = {g: len(v) for g, v in by_group.items()}
    return (between / (k - 1)) / (within / (len(values) - k)), sizes


@program(sample, shapes=((20,), (500,)), dtypes=("float64", "float32"))
def kernel_density(x, points=25, bandwidth=None):
    if bandwidth is None:
        bandwidth = 1.06 * x.std(ddof=1, dtype=float) * x.size ** (-1 / 5)
    at = np.linspace(x.min() - bandwidth, x.max() + bandwidth, points)
    z = (at[:, np.newaxis] - x[np.newaxis, :]) / bandwidth
    density = np.exp(-0.5 * z**2).sum(axis=1) / (x.size * bandwidth * np.sqrt(2 * np.pi))
    area = np.sum((density[1:] + density[:-1]) / 2 * np.diff(at))
    return at, density, area


class RunningMoments:
    """Welford's recurrence, batch by batch."""

    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def push(self, batch):
        for value in batch:
            self.n += 1
            delta = value - self.mean
            self.mean += delta / self.n
            self.m2 += delta * (value - self.mean)
        return self

    @property
    def variance(self):
        return self.m2 / (self.n - 1) if self.n > 1 else float("nan")


@program(sample, shapes=((3, 5), (10, 12)), dtypes=("float64", "float32"))
def streaming_moments(batches):
    moments = RunningMoments()
    seen = [moments.push(batch).variance for batch in batches]
    assert moments.n == batches.size
    return moments.mean, np.array(seen), moments.n


@program(sample, shapes=((6,), (90,)), dtypes=("float64", "float32"))
def standardize_with_a_warning(x, eps=0.0):
    if x.std() < 100 * np.ptp(x):
        warnings.warn(f"{x.size} values standardized", UserWarning, stacklevel=2)
    constant = np.full_like(x, 2.0)
    z = (x - x.mean()) / (x.std() + eps)
    flat = (constant - constant.mean()) / constant.std()
    return z, np.isnan(flat).all()


@program(sample, shapes=((15,), (256,)), dtypes=("float64", "float32", "int64"))
def trimmed_and_winsorized(x, proportion=0.1):
    cut = int(proportion * x.size)
    ordered = np.sort(x)
    trimmed = ordered[cut : x.size - cut]
    wins = x.copy()
    wins[wins < trimmed[0]] = trimmed[0]
    wins[wins > trimmed[-1]] = trimmed[-1]
    mad = np.median(np.abs(x - np.median(x)))
    return trimmed.mean(), wins.mean(), mad, wins.dtype == x.dtype


@program(sample, shapes=((30,), (300,)), dtypes=("float64",))
def mixture_by_expectation_maximization(x, max_iter=5):
    weights = np.array([0.5, 0.5])
    means = np.array([x.min(), x.max()])
    variances = np.full(2, x.var())
    for step in range(max_iter):
        log_p = -0.5 * ((x[:, None] - means) ** 2 / variances + np.log(2 * np.pi * variances))
        joint = weights * np.exp(log_p)
        gamma = joint / joint.sum(axis=1, keepdims=True)
        mass = gamma.sum(axis=0)
        means = (gamma * x[:, None]).sum(axis=0) / mass
        variances = (gamma * (x[:, None] - means) ** 2).sum(axis=0) / mass + 1e-6
        weights = mass / x.size
        if step % 4 == 0:
            print(f"iteration {step}: weights sum to {weights.sum():.3f}")
    return means, variances, weights
