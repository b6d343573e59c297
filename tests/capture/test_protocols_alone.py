"""Functions without source. Oracle: the function undecorated."""

import numpy as np
import pytest

import runmat_jit as runmat
from runmat_jit.capture.record.protocols_alone import is_followed
from tests.capture.behavior import compare, observe

KEPT = []


def made(text, **names):
    """The function ``f`` of a text that no file holds."""
    namespace = {"np": np, "KEPT": KEPT, "scale": 2.0, **names}
    exec(text, namespace)
    return namespace["f"]


FOLLOWED = {
    "arithmetic": "def f(x): return np.sin(x) * 2 + x.sum()",
    "several results": "def f(x):\n y = x * scale\n return y, [y.max(), -y], {'a': y[1:]}",
    "a branch": "def f(x):\n if x.sum() > 0: return x * 2\n return x * 3",
    "a loop": "def f(x):\n n = 0\n while n < 3:\n  x = x + n\n  n = n + 1\n return x",
    "in place": "def f(x):\n y = x.copy()\n y += 1\n y = y[::-1] * abs(y)\n return y",
    "numbers": "def f(x): return float(x.mean()) + max(len(x), 2)",
}
PLAIN = {
    "a list outside": "def f(x):\n KEPT.append(x * 2)\n return KEPT[-1]",
    "a global": "def f(x):\n global kept\n kept = x * 2\n return kept",
    "an attribute": "def f(x):\n f.kept = x * 2\n return f.kept",
    "a cell": "def g():\n y = []\n def f(x):\n  y.append(x)\n  return y\n return f\nf = g()",
    "an inner function": "def f(x): return (lambda y: y * 2)(x)",
    "unknown code": "import json\ndef f(x): return json.dumps(list(x))",
    "a protocol": "def f(x): return (x * 2).__array_interface__['shape'], x.__class__.__name__",
    "an item": "def f(x):\n y = [0]\n y[0] = x * 2\n return y",
}


@pytest.fixture
def vector():
    return np.random.default_rng(0).random(5000) - 0.25


@pytest.mark.parametrize("text", FOLLOWED.values(), ids=FOLLOWED)
def test_a_function_that_keeps_values_to_itself_runs_in_kernels(text, vector):
    fn = made(text)
    assert is_followed(fn, [vector])
    decorated = runmat.jit(fn)
    for _ in range(3):
        compare(observe(fn, (vector.copy(),), {}), observe(decorated, (vector.copy(),), {}))
    explanation = decorated.explain(vector)
    assert explanation.regions
    assert "no-source" in [reason.id for reason in explanation.reasons]


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN)
def test_a_function_from_which_values_could_leave_is_plain(text, vector):
    fn = made(text)
    assert not is_followed(fn, [vector])
    decorated = runmat.jit(fn)
    KEPT.clear()
    expected = observe(fn, (vector,), {})
    KEPT.clear()
    compare(expected, observe(decorated, (vector,), {}))
    assert all(type(value) is np.ndarray for value in KEPT)
    assert decorated.cache_info().plain == 1


def test_objects_as_arguments_make_it_plain(vector):
    fn = made("def f(x, y): return x * 2")
    assert is_followed(fn, [vector, 2])
    assert not is_followed(fn, [vector, object()])


def test_functions_as_arguments_and_defaults_get_no_traced_value(vector):
    kept = []
    fn = made("def f(x, g): return g(x * 2)")
    by_default = made("def f(x, g=keep): return g(x * 2)", keep=kept.append)
    by_name = made("def f(x, *, g=keep): return g(x * 2)", keep=lambda y: kept.append(y))
    decorated = runmat.jit(fn)
    for g in (kept.append, lambda y: kept.append(y), type, (kept.append,)[0]):
        assert not is_followed(fn, [vector, g])
        decorated(vector, g)
    assert not is_followed(by_default, [vector])
    runmat.jit(by_default)(vector)
    runmat.jit(by_name)(vector)
    assert [type(value) for value in kept] == [np.ndarray] * 5
    assert decorated(vector, type) is np.ndarray
