"""Oracle: ``runmat_jit.random`` on the same seed, and the published vector of Philox4x32-10."""

import numpy as np
import pytest

import runmat_jit as runmat
from matlab_frontend.engine import NumpyEngine
from matlab_frontend.lazy_engine import LazyEngine
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit import random
from runmat_jit.api import program_tracer

RANDOM123 = np.array([0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8])  # zero key, zero counter
DRAWS = """
u = rand(50, 40, 3); s = rand(100, 60, 'single'); n = randn(4097, 1); k = randi([-3 900], 70, 70);
i = randi(200, 5000, 1, 'uint8'); few = rand(2, 3); last = randn(1, 5000, 'single');
"""


def run(code, engine=None):
    engine = LazyEngine(lambda _: program_tracer("cpu"), small=0) if engine is None else engine
    return run_source(Source(code), {}, Session(engine, write=len))


def test_the_numbers_of_a_state_are_those_of_philox():
    found = run("s = rng; s.State = uint64([0; 0]); rng(s); x = rand(1, 4, 'single');")["x"]
    assert (np.ravel(found) * 2.0**24 == RANDOM123 >> 8).all()


def test_draws_are_those_of_the_generator_column_by_column():
    found = run(f"rng(7); {DRAWS}")
    rng = random.default_rng(7)
    expected = {
        "u": rng.random((3, 40, 50)),
        "s": rng.random((60, 100), np.float32),
        "n": rng.standard_normal((1, 4097)),
        "k": rng.integers(-3, 900, (70, 70), endpoint=True).astype(float),
        "i": rng.integers(1, 200, (1, 5000), endpoint=True).astype(np.uint8),
        "few": rng.random((3, 2)),
        "last": rng.standard_normal((5000, 1), np.float32),
    }
    for name, values in expected.items():
        assert found[name].dtype == values.dtype, name
        np.testing.assert_array_equal(np.squeeze(found[name]), np.squeeze(values.T), name)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_an_engine_that_records_draws_the_numbers_of_one_that_does_not(device):
    names = ("u", "s", "k", "i", "few")
    found = run(f"rng(3); {DRAWS}", engine_for(device))
    expected = run(f"rng(3); {DRAWS}", NumpyEngine())
    for name in names:
        np.testing.assert_array_equal(found[name], expected[name], name)
    for name, ulp in (("n", 2e-13), ("last", 1e-4)):  # the GPU's logarithm is another
        np.testing.assert_allclose(found[name], expected[name], rtol=ulp, atol=ulp)


@pytest.mark.parametrize(
    ("code", "regions"),
    [
        ("m = exp(-rand(300, 200));", {"elementwise": 1}),
        ("m = mean(exp(-rand(300, 200)), 'all');", {"elementwise": 1, "reduction": 1}),  # in blocks
    ],
)
def test_a_large_draw_is_fused_with_what_uses_it(code, regions):
    runmat.telemetry.reset()
    assert np.all(run(f"rng(1); {code}", engine_for("cpu"))["m"] > 0)
    assert runmat.telemetry.snapshot()["regions"] == regions


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("rng(5); a = rand(1, 9); rng(5); b = rand(1, 9); x = isequal(a, b);", 1),
        ("a = rand(1, 9); b = rand(1, 9); x = isequal(a, b);", 0),
        ("rng('default'); a = rand; rng(0); b = rand; x = a == b;", 1),
        ("rng('shuffle'); a = rand; rng('shuffle'); b = rand; x = a == b;", 0),
        ("s = rng; a = randn(80); rng(s); b = randn(80); x = isequal(a, b);", 1),
        ("s = rng(4); rng(s); t = rng; x = isequal(s, t);", 1),
        ("p = randperm(500); x = isequal(sort(p), 1:500) && ~issorted(p);", 1),
        ("x = numel(unique(randperm(1000, 20))) == 20;", 1),
        ("k = randi([3 5], 90, 90); x = isequal(unique(k(:))', 3:5);", 1),
        ("x = rand(0, 3); x = isempty(x) && size(x, 2) == 3;", 1),
        ("x = isa(rand(3, 'like', single(1)), 'single') && isa(randi(3, 2, 'int8'), 'int8');", 1),
        ("x = rand(80, 'single', 'gpuArray'); x = max(x(:)) < 1 && min(x(:)) >= 0;", 1),
        ("x = abs(mean(normrnd(5, 2, 1, 40000)) - 5) < 0.05;", 1),
    ],
)
def test_seeds_states_sizes_and_classes(code, value):
    assert bool(run(code, engine_for("cpu"))["x"]) == bool(value)


@pytest.mark.parametrize(
    ("code", "identifier"),
    [
        ("rng(-1)", "MATLAB:rng:badFirstOpt"),
        ("rng(1.5)", "MATLAB:rng:badFirstOpt"),
        ("rng('sometimes')", "MATLAB:rng:badFirstOpt"),
        ("rng(1, 'dice')", "MATLAB:rng:badSecondOpt"),
        ("rng(struct('Seed', 1))", "MATLAB:rng:badFirstOpt"),
        ("rand(2, 'int8')", "MATLAB:invalidInputClass"),
        ("randi([5 3])", "MATLAB:randi:invalidLimits"),
        ("randi(2.5)", "MATLAB:randi:invalidLimits"),
        ("randperm(3, 4)", "MATLAB:randperm:inputKTooLarge"),
    ],
)
def test_wrong_arguments_are_refused(code, identifier):
    with pytest.raises(runmat.matlab.MatlabError) as raised:
        run(code)
    assert raised.value.identifier == identifier
