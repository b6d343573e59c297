"""The five MATLAB programs. Oracle: plain NumPy functions with the metric of each program."""

from pathlib import Path

import numpy as np
import pytest

import benchmarks
import runmat_jit as runmat
from benchmarks.programs import six
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

FOLDER = Path(benchmarks.__file__).parent / "matlab"


# -- oracles: numbers are those of the script's rng(0), or of the congruential step ----------------
def elementwise(x):
    return six.elementwise(x), np.mean(six.elementwise(x))


def image_4k(images):
    """Axes are those of MATLAB's memory: the last one, the batch, runs fastest."""
    mean = np.mean(images, axis=(0, 1), keepdims=True)
    sigma = np.sqrt(np.mean((images - mean) ** 2, axis=(0, 1), keepdims=True) + 1e-6)
    out = np.maximum((images - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, np.mean((out - images) ** 2)


def mean_of_elementwise(points):
    return elementwise(np.linspace(0, 4 * np.pi, points).astype(np.float32))[1]


def error_of_images(batch, height, width):
    rng = runmat.random.default_rng(0)
    return image_4k(rng.random((width, height, batch), dtype=np.float32))[1]


def price(paths, steps):
    rng = runmat.random.default_rng(0)
    normals = np.array([rng.standard_normal(paths, np.float32) for _ in range(steps)])
    return six.monte_carlo(normals, paths, steps)


def uniform(count, steps):
    return np.array([six.uniform(count, t * count) for t in range(steps)])


def mean_of_filter(channels, steps):
    return six.iir(uniform(channels, steps), steps)


def error_of_filters(taps, filters, steps):
    return six.nlms(uniform(taps * filters, steps).reshape(steps, taps, filters), steps)


PROGRAMS = {
    "elementwise": (mean_of_elementwise, {"ELEMENTWISE_POINTS": 5001}),
    "image_4k": (error_of_images, {"IMG_B": 2, "IMG_H": 60, "IMG_W": 90}),
    "monte_carlo": (price, {"MC_M": 5000, "MC_T": 6}),
    "iir": (mean_of_filter, {"IIR_M": 5000, "IIR_T": 6}),
    "nlms": (error_of_filters, {"NLMS_P": 16, "NLMS_C": 300, "NLMS_T": 5}),
}


def run(name, variables, device="cpu"):
    printed = []
    engine = engine_for(device)
    session = Session(engine, write=printed.append)
    run_source(Source.from_file(FOLDER / f"{name}.m"), variables, session)
    return "".join(printed), engine


def metric(printed):
    word, _, number = printed.strip().rpartition("=")
    assert word.startswith("RESULT_ok ")
    return float(number)


@pytest.fixture
def sizes(monkeypatch):
    def set_sizes(name):
        for variable, value in PROGRAMS[name][1].items():
            monkeypatch.setenv(variable, str(value))

    return set_sizes


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_metric_of_numpy(name, device, sizes):
    sizes(name)
    oracle, values = PROGRAMS[name]
    assert metric(run(name, {}, device)[0]) == pytest.approx(
        float(oracle(*values.values())), rel=1e-5
    )


@pytest.mark.parametrize(
    ("name", "variable", "function", "data"),
    [
        ("elementwise", "x", elementwise, np.linspace(0, 12, 10_001)),
        ("image_4k", "imgs", image_4k, np.random.default_rng(0).random((90, 60, 2))),
    ],
)
def test_as_many_kernels_run_as_for_decorated_python(name, variable, function, data):
    data, function = np.asarray(data, np.float32), runmat.jit(function)
    runmat.telemetry.reset()
    function(data)
    expected = runmat.telemetry.snapshot()["kernel_launches"]
    runmat.telemetry.reset()
    engine = run(name, {variable: data.T})[1]
    assert runmat.telemetry.snapshot()["kernel_launches"] == expected
    assert totals(engine.explain()) == totals(str(function.explain(data)))


def totals(explanation):
    """How many regions and kernels there were."""
    return explanation.partition(";")[2].partition("\n")[0]


def test_a_wrong_size_is_refused_by_the_program(monkeypatch):
    monkeypatch.setenv("IMG_B", "2.5")
    with pytest.raises(runmat.matlab.MatlabError, match="finite positive integer"):
        run("image_4k", {})


def test_what_is_in_the_workspace_comes_before_defaults(sizes):
    sizes("monte_carlo")
    assert run("monte_carlo", {"T": 1.0})[0] != run("monte_carlo", {"T": 2.0})[0]
