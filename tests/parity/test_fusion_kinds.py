"""Each fusion kind from a decorated function; oracles: the undecorated function, and the same
function with the kind switched off, whose bits must be equal (algebraic kinds, and products, whose
terms BLAS adds in an order of the processor's: within bounds).
"""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.core.config import FUSION_KINDS
from runmat_jit.passes.fusion.kinds import enabled_kinds

# Where a RuntimeWarning is an error, as in our other tests, each operation runs by itself.
pytestmark = pytest.mark.filterwarnings("default::RuntimeWarning")


def blend(x):
    return np.where(x > 0, np.sqrt(np.abs(x)) + np.exp(-x), x * 0.5)


def distance(x):
    return np.sqrt(((x - 0.25) ** 2).sum(axis=-1))


def softmax(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def whiten(x):
    mean = x.mean(axis=(1, 2), keepdims=True)
    sigma = np.sqrt(((x - mean) ** 2).mean(axis=(1, 2), keepdims=True) + 1e-6)
    out = np.maximum((x - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - x) ** 2)


def layer(x):
    return np.tanh(x[0] @ x[1].T + x[2, 0, :40]) * 0.5 - 1


def covariance(x):
    return (x[0] - x[0].mean(axis=0)).T @ (x[0] - x[0].mean(axis=0)) / 39


def power_step(x):
    g, q = x[0] @ x[0].T, x[1, :, :8]
    q = g @ q
    return q / np.sqrt((q * q).sum(axis=0))


def variances(x):
    q = x[1, :, :8]
    return (q * (x[0] @ x[0].T @ q)).sum(axis=0) + 1


ALGEBRAIC = ("centered_gram", "explained_variance", "power_step_normalize")
EXAMPLES = {
    "elementwise": blend,
    "reduction": distance,
    "map_reduce_broadcast": softmax,
    "image_normalize": whiten,
    "matmul_epilogue": layer,
    "power_step_normalize": power_step,
    "explained_variance": variances,
    "centered_gram": covariance,
}


@pytest.fixture
def without_kind():
    """Switch kinds off for one test."""
    yield lambda *kinds: runmat.config(disable_fusion=kinds)
    runmat.config(disable_fusion=())


def images(dtype):
    return np.random.default_rng(5).normal(0.5, 1.0, (3, 40, 70)).astype(dtype)


def arrays(result):
    return result if isinstance(result, tuple) else (result,)


def test_every_kind_has_an_example_here():
    assert set(EXAMPLES) == set(FUSION_KINDS)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", FUSION_KINDS)
def test_the_kind_is_recognized_and_its_result_is_numpys(kind, dtype):
    x = images(dtype)
    decorated = runmat.jit(EXAMPLES[kind])
    results = arrays(decorated(x))
    for result, expected in zip(results, arrays(EXAMPLES[kind](x)), strict=True):
        assert result.dtype == expected.dtype
        tolerance = 100 * np.finfo(dtype).eps
        np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)
    kinds = [found for found in decorated.explain(x).kinds if found != "host"]
    assert kinds == [kind] or (kind in ALGEBRAIC and kind in kinds)


@pytest.mark.parametrize("kind", FUSION_KINDS)
@pytest.mark.parametrize("example", FUSION_KINDS)
def test_a_kind_that_is_switched_off_is_gone_and_the_bits_stay(kind, example, without_kind):
    x = images(np.float32)
    decorated = runmat.jit(EXAMPLES[example])
    fused = arrays(decorated(x))
    without_kind(kind)
    for result, expected in zip(arrays(decorated(x)), fused, strict=True):
        if example in (*ALGEBRAIC, "matmul_epilogue"):
            np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
        else:
            np.testing.assert_array_equal(result, expected)
    found = decorated.explain(x)
    gone = set(FUSION_KINDS) - {each.name for each in enabled_kinds(frozenset({kind}))}
    assert all(len(region.operations) == 1 for region in found.regions if region.kind in gone)
