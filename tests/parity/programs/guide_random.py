"""Programs after NumPy's guide: random sampling."""

import numpy as np

from tests.parity.program import normal, positive, program

SIZES = ((10,), (100,))


def generator(rng, shape, dtype):
    return np.random.default_rng(rng.integers(1000)), shape[0]


def generator_and_array(rng, shape, dtype):
    return np.random.default_rng(rng.integers(1000)), rng.normal(size=shape).astype(dtype)


def legacy_generator(rng, shape, dtype):
    return np.random.RandomState(int(rng.integers(1000))), shape[0]


@program(generator, shapes=SIZES, dtypes=("float64",))
def estimate_pi(rng, n):
    x, y = rng.random(n), rng.random(n)
    inside = x * x + y * y < 1
    return 4 * inside.mean()


@program(generator, shapes=SIZES, dtypes=("float64",))
def random_walk(rng, n):
    steps = rng.choice([-1, 1], size=n)
    path = np.cumsum(steps)
    return path, path.max(), np.abs(path).mean()


@program(generator_and_array)
def noisy_signal(rng, x):
    noise = rng.normal(0, 0.1, size=x.shape)
    noisy = x + noise
    return noisy, ((noisy - x) ** 2).mean()


@program(generator_and_array)
def bootstrap_mean(rng, x):
    means = np.empty(5, x.dtype)
    for i in range(5):
        sample = x[rng.integers(0, len(x), len(x))]
        means[i] = sample.mean()
    return means, means.std()


@program(generator_and_array)
def shuffle_and_split(rng, x):
    order = rng.permutation(len(x))
    half = len(x) // 2
    rng.shuffle(x)
    return x[order[:half]], x[order[half:]]


@program(legacy_generator, shapes=SIZES, dtypes=("float64",))
def legacy_draws(rng, n):
    x = rng.rand(n)
    y = rng.randn(n) * 2 + 1
    return x + y, rng.randint(0, 10, 3)


@program(normal)
def draws_of_the_global_generator(x):
    noise = np.random.rand(len(x))
    np.random.seed(7)
    again = np.random.normal(size=3)
    return x + noise, again


@program(positive)
def own_generator_inside(x):
    rng = np.random.default_rng(42)
    sample = rng.exponential(2.0, size=x.shape)
    return np.minimum(sample, x), rng.integers(0, 100, 4), rng.uniform(-1, 1, 2)


@program(generator, shapes=SIZES, dtypes=("float64",))
def draws_only_if_needed(rng, n):
    x = rng.standard_normal(n)
    if x[0] > 0:
        return x + rng.random(n)
    return x


@program(generator, shapes=SIZES, dtypes=("float64",))
def distributions(rng, n):
    counts = rng.poisson(3.0, n)
    waits = rng.gamma(2.0, 1.0, n)
    table = rng.multivariate_normal([0, 1], [[1, 0.2], [0.2, 2]], size=3)
    return counts / waits, table, rng.binomial(10, 0.3, 4), rng.bytes(3)
