"""Draws from distributions. Oracles: NumPy's Generator for types, shapes and errors; exact
distribution functions of SciPy's for the numbers, by statistics that a right generator exceeds once
in thousands of seeds (the seeds are fixed).
"""

import copy

import numpy as np
import pytest
from scipy import stats

import runmat_jit as runmat

MANY = 50_000


def both(seed=1):
    return runmat.random.default_rng(seed), np.random.default_rng(seed)


# -- types, shapes, errors ------------------------------------------------------------------------
ONE = ("exponential", "poisson", "rayleigh", "chisquare", "standard_gamma", "weibull", "pareto")
TWO = ("normal", "lognormal", "gamma", "beta", "laplace", "logistic", "gumbel", "f")
CALLS = {
    **{name: [(0.7,), ([0.7, 20.0],), (np.array(2.0),)] for name in (*ONE, "power", "standard_t")},
    **{name: [(0.7, 0.5), ([0.7, 2.0], [[0.5], [3.0]])] for name in TWO},
    "uniform": [(), (-1, 3), ([0, 1], 4)],
    "standard_exponential": [()],
    "standard_cauchy": [()],
    "triangular": [(-1, 0, 3), ([0, 1], 1, 2)],
    "geometric": [(0.3,), ([0.3, 1.0],)],
    "negative_binomial": [(3, 0.4), ([1, 2.5], 0.4)],
    "binomial": [(9, 0.3), ([0, 9, 1000], [0.0, 0.9, 0.5]), (2.7, 1.0)],
    "multinomial": [(9, [0.2, 0.3, 0.5])],
    "dirichlet": [([1.0, 0.2],)],
    "multivariate_normal": [([1, 2], [[2, 0.5], [0.5, 1]])],
    "choice": [(5,), ([3, 4, 5],), ([[1, 2], [3, 4]],)],
}
SIZES = (None, (), 0, 3, (2, 3), np.int64(2))


@pytest.mark.parametrize("name", CALLS)
def test_results_have_the_types_and_shapes_of_numpy(name):
    for args in CALLS[name]:
        for size in SIZES:
            given, rngs = {"size": size}, both()
            try:
                expected = getattr(rngs[1], name)(*args, **given)
            except ValueError:
                before = rngs[0].state
                with pytest.raises(ValueError, match=r".*"):
                    getattr(rngs[0], name)(*args, **given)
                assert rngs[0].state == before
                continue
            found = getattr(rngs[0], name)(*args, **given)
            assert type(found) is type(expected), (args, size)
            assert np.shape(found) == np.shape(expected), (args, size)
            assert np.asarray(found).dtype == np.asarray(expected).dtype, (args, size)


REFUSED = [
    lambda r: r.uniform(0, np.inf),
    lambda r: r.uniform(0, [1, np.nan]),
    lambda r: r.uniform(2, 1),
    lambda r: r.normal(0, -1),
    lambda r: r.normal(0, -0.0),
    lambda r: r.lognormal(0, -1),
    lambda r: r.exponential([1, -0.0]),
    lambda r: r.gamma(-1),
    lambda r: r.standard_gamma(1, 3, dtype=np.float16),
    lambda r: r.standard_gamma([1, 2.0], size=2, out=np.zeros(3)),
    lambda r: r.weibull(-1),
    lambda r: r.pareto(0),
    lambda r: r.beta(0, 1),
    lambda r: r.chisquare(0),
    lambda r: r.triangular(1, 0, 2),
    lambda r: r.triangular(1, 1, 1),
    lambda r: r.dirichlet([-1, 1]),
    lambda r: r.poisson(-1),
    lambda r: r.poisson(np.nan),
    lambda r: r.poisson(1e30),
    lambda r: r.binomial(-1, 0.5),
    lambda r: r.binomial(3, 1.5),
    lambda r: r.binomial(3, np.nan),
    lambda r: r.geometric(0),
    lambda r: r.negative_binomial(0, 0.5),
    lambda r: r.multinomial(-1, [0.5, 0.5]),
    lambda r: r.choice(0),
    lambda r: r.choice([]),
    lambda r: r.choice(2.5),
    lambda r: r.choice("abc"),
    lambda r: r.choice(3, 5, replace=False),
    lambda r: r.choice(3, p=[0.5, 0.5]),
    lambda r: r.choice(2, p=[0.5, 0.6]),
    lambda r: r.choice(2, p=[-0.5, 1.5]),
    lambda r: r.choice(2, p=[[0.5, 0.5]]),
    lambda r: r.choice(3, p=[0.5, np.nan, 0.5]),
    lambda r: r.choice(3, 3, replace=False, p=[1, 0, 0]),
    lambda r: r.permutation(2.5),
    lambda r: r.permutation([1, 2], axis=2),
    lambda r: r.shuffle((1, 2)),
    lambda r: r.shuffle("abc"),
    lambda r: r.shuffle(3),
    lambda r: r.shuffle(np.zeros(3), axis=1),
    lambda r: r.permuted([1, 2], axis=1),
    lambda r: r.permuted([1, 2], out=np.zeros(3)),
    lambda r: r.multivariate_normal([0], [[1, 0], [0, 1]]),
    lambda r: r.multivariate_normal([[0]], [[1]]),
    lambda r: r.multivariate_normal([0, 0], [1, 1]),
    lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise"),
    lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="x"),
    lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], method="x"),
    lambda r: r.multivariate_normal([0, 0], [[1, 2], [2, 1]], method="cholesky"),
]


@pytest.mark.parametrize("call", REFUSED)
def test_what_numpy_refuses_is_refused_in_its_words(call):
    ours, numpy = both()
    with pytest.raises(Exception, match=r".*") as expected:
        call(numpy)
    with pytest.raises(expected.type) as found:
        call(ours)
    assert str(found.value) == str(expected.value)


NAN = [
    lambda r: r.normal(0, np.nan),
    lambda r: r.exponential(np.nan),
    lambda r: r.gamma([np.nan, 1])[0],
    lambda r: r.chisquare(np.nan),
    lambda r: r.beta(np.nan, 1),
]


@pytest.mark.parametrize("call", NAN)
def test_parameters_that_are_nan_give_nan(call):
    assert [np.isnan(call(rng)) for rng in both()] == [True, True]


def test_parameters_at_their_limits():
    rng = runmat.random.default_rng(3)
    assert rng.standard_gamma(np.inf) == np.inf
    assert rng.standard_gamma([0.0, 1e-300]).tolist() == [0, 0]
    assert rng.geometric(1e-30) == np.iinfo(np.int64).max
    assert rng.poisson([0, 1e-300, 9e18]).tolist()[:2] == [0, 0]
    assert rng.binomial([0, 7, 7, 10**12], [0.5, 0, 1, 1]).tolist() == [0, 0, 7, 10**12]
    assert rng.multinomial(5, [1.0, 0.0]).tolist() == [5, 0]
    assert rng.dirichlet([0.0, 0.0]).tolist() == [0, 0]
    shares = rng.beta(np.full(1000, 1e-3), 1e-3)
    assert np.isfinite(shares).all()
    assert shares.mean() == pytest.approx(0.5, abs=0.06)


# -- the numbers ----------------------------------------------------------------------------------
SMOOTH = [
    ("uniform", (-2, 3), stats.uniform(-2, 5)),
    ("normal", (1, 2), stats.norm(1, 2)),
    ("lognormal", (0.3, 0.5), stats.lognorm(0.5, scale=np.exp(0.3))),
    ("standard_exponential", (), stats.expon()),
    ("exponential", (3,), stats.expon(scale=3)),
    ("laplace", (1, 2), stats.laplace(1, 2)),
    ("logistic", (1, 2), stats.logistic(1, 2)),
    ("gumbel", (1, 2), stats.gumbel_r(1, 2)),
    ("rayleigh", (2,), stats.rayleigh(scale=2)),
    ("weibull", (1.5,), stats.weibull_min(1.5)),
    ("pareto", (3,), stats.lomax(3)),
    ("power", (3,), stats.powerlaw(3)),
    ("standard_cauchy", (), stats.cauchy()),
    ("triangular", (-1, 0.5, 3), stats.triang(1.5 / 4, -1, 4)),
    *((("standard_gamma"), (a,), stats.gamma(a)) for a in (0.05, 0.7, 1.0, 2.5, 300.0)),
    ("gamma", (2, 3), stats.gamma(2, scale=3)),
    ("chisquare", (3,), stats.chi2(3)),
    *(("beta", (a, b), stats.beta(a, b)) for a, b in ((0.2, 0.3), (2, 5), (0.5, 40))),
    ("f", (5, 7), stats.f(5, 7)),
    ("standard_t", (4,), stats.t(4)),
]
COUNTS = [
    *(("poisson", (mean,), stats.poisson(mean)) for mean in (0.3, 4.0, 9.99, 10.0, 35.0, 4000.0)),
    *(
        ("binomial", (n, p), stats.binom(n, p))
        for n, p in ((3, 0.5), (20, 0.1), (100, 0.1), (100, 0.93), (40, 0.5), (10**6, 0.2))
    ),
    ("geometric", (0.3,), stats.geom(0.3)),
    ("negative_binomial", (3, 0.4), stats.nbinom(3, 0.4)),
]


@pytest.mark.parametrize(("name", "args", "exact"), SMOOTH)
def test_numbers_lie_as_they_should(name, args, exact):
    drawn = getattr(runmat.random.default_rng(11), name)(*args, size=MANY)
    assert stats.kstest(drawn, exact.cdf).pvalue > 1e-3


@pytest.mark.parametrize(("name", "args", "exact"), COUNTS)
def test_counts_lie_as_they_should(name, args, exact):
    drawn = getattr(runmat.random.default_rng(12), name)(*args, size=MANY)
    edges = np.unique(exact.ppf(np.linspace(0.001, 0.999, 40)))
    expected = np.diff(exact.cdf(edges), prepend=0, append=1) * MANY
    found = np.bincount(np.searchsorted(edges, drawn), minlength=edges.size + 1)
    kept = expected > 5
    lost = expected[~kept].sum()
    assert abs(found[~kept].sum() - lost) < 5 + 5 * np.sqrt(lost)
    statistic = ((found - expected)[kept] ** 2 / expected[kept]).sum()
    assert stats.chi2(kept.sum() - 1).sf(statistic) > 1e-3


def test_samples_of_weighted_values_have_their_chances():
    rng, chances = runmat.random.default_rng(5), [0.1, 0.2, 0.3, 0.4, 0.0]
    found = np.bincount(rng.choice(5, MANY, p=chances), minlength=5) / MANY
    np.testing.assert_allclose(found, chances, atol=0.01)
    pairs = np.array([rng.choice(5, 2, replace=False, p=chances) for _ in range(4000)])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    np.testing.assert_allclose(np.bincount(pairs[:, 0], minlength=5) / 4000, chances, atol=0.04)
    # the second is 3 where it was not the first, by what is left of the chances
    second = sum(0.4 * c / (1 - c) for c in chances[:3])
    assert np.mean(pairs[:, 1] == 3) == pytest.approx(second, abs=0.04)


def test_all_orders_are_equally_likely():
    rng = runmat.random.default_rng(6)
    lines = np.tile(np.arange(4), (24_000, 1))
    for orders in (
        rng.permuted(lines, axis=1),
        np.array([rng.permutation(4) for _ in range(6000)]),
    ):
        _, counts = np.unique(orders @ [64, 16, 4, 1], return_counts=True)
        assert counts.size == 24
        assert stats.chisquare(counts).pvalue > 1e-3


def test_normal_vectors_have_their_covariance():
    mean, cov = np.array([1.0, -2.0, 0.5]), np.array([[2, 0.5, 0], [0.5, 1, -0.3], [0, -0.3, 1]])
    for method in ("svd", "eigh", "cholesky"):
        rng = runmat.random.default_rng(7)
        drawn = rng.multivariate_normal(mean, cov, MANY, method=method)
        np.testing.assert_allclose(drawn.mean(axis=0), mean, atol=0.03)
        np.testing.assert_allclose(np.cov(drawn.T), cov, atol=0.05)
    with pytest.warns(RuntimeWarning, match="positive-semidefinite"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])


def test_orders_are_those_of_the_elements():
    rng = runmat.random.default_rng(8)
    table = np.arange(12).reshape(3, 4)
    shuffled, listed = table.copy(), list(range(9))
    assert rng.shuffle(shuffled, axis=1) is None
    rng.shuffle(listed)
    assert sorted(listed) == list(range(9)) != listed
    for found, axis in ((shuffled, 1), (rng.permutation(table), 0), (rng.permutation(table, 1), 1)):
        np.testing.assert_array_equal(np.sort(found, axis=axis), table)
        moved = np.moveaxis(found, axis, 0)
        assert {tuple(line) for line in moved} == {
            tuple(line) for line in np.moveaxis(table, axis, 0)
        }
    out = np.empty((3, 4), np.int64)
    assert rng.permuted(table, axis=0, out=out) is out
    np.testing.assert_array_equal(np.sort(out, axis=0), table)
    np.testing.assert_array_equal(np.sort(rng.permuted(table).ravel()), np.arange(12))
    assert rng.permutation(0).shape == (0,)
    assert len(rng.bytes(7)) == 7
    with pytest.raises(TypeError, match="along an axis"):
        rng.shuffle(listed, axis=1)
    with pytest.raises(ValueError, match="read-only"):
        rng.shuffle(np.broadcast_to(0, 3))


# -- streams --------------------------------------------------------------------------------------
def test_known_answers():
    """What a seed gave once it gives for ever: these numbers change for no reason."""
    rng = runmat.random.default_rng(2026)
    found = [
        rng.uniform(1, 2),
        rng.normal(),
        rng.exponential(),
        rng.standard_gamma(0.5),
        rng.beta(2, 3),
        rng.chisquare(4),
        rng.poisson([3, 50]).tolist(),
        rng.binomial([10, 1000], 0.4).tolist(),
        rng.choice(10, 3, replace=False).tolist(),
        rng.permutation(5).tolist(),
        rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], method="cholesky").tolist(),
    ]
    flat = [n for each in found for n in (each if isinstance(each, list) else [each])]
    assert flat == pytest.approx(KNOWN, rel=1e-9)


KNOWN = [
    1.230368712277702,
    0.8589244163505515,
    0.2959351382860756,
    0.013081895309407215,
    0.11789010726616707,
    9.361560371915013,
    3,
    50,
    4,
    389,
    6,
    5,
    8,
    4,
    2,
    0,
    3,
    1,
    0.5420842330414881,
    1.4405950996750825,
]


@pytest.mark.parametrize("threads", [1, 2])
def test_draws_do_not_depend_on_threads(threads):
    before = runmat.config().num_threads
    runmat.config(num_threads=threads)
    try:
        rng = runmat.random.default_rng(4)
        found = rng.standard_gamma(0.7, 100_000).sum(), int(rng.poisson(20, 100_000).sum())
    finally:
        runmat.config(num_threads=before)
    assert found == (pytest.approx(SUMS[0], rel=1e-12), SUMS[1])


SUMS = (69522.2288965813, 2001702)


def test_a_generator_that_has_jumped_goes_on_elsewhere():
    rng = runmat.random.default_rng(9)
    rng.random(5)
    ahead = rng.jumped()
    twice = rng.jumped(2)
    assert ahead.jumped().state == twice.state
    assert rng.state == copy.copy(rng).state
    assert not np.intersect1d(rng.random(1000), ahead.random(1000)).size
