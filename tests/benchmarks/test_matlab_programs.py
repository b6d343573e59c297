"""Oracle: the decorated Python version beside each program, and its undecorated form."""

import importlib
from pathlib import Path

import numpy as np
import pytest

import runmat_jit as runmat
from benchmarks.matlab import elementwise, image_4k
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source

FOLDER = Path(elementwise.__file__).parent
PROGRAMS = {
    "elementwise": {"ELEMENTWISE_POINTS": "5001"},
    "image_4k": {"IMG_B": "2", "IMG_H": "60", "IMG_W": "90"},
    "monte_carlo": {"MC_M": "5000", "MC_T": "6"},
    "iir": {"IIR_M": "5000", "IIR_T": "6"},
    "nlms": {"NLMS_P": "16", "NLMS_C": "300", "NLMS_T": "5"},
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
        for variable, value in PROGRAMS[name].items():
            monkeypatch.setenv(variable, value)

    return set_sizes


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_the_metric_of_its_python_version(name, device, sizes, capsys):
    sizes(name)
    importlib.import_module(f"benchmarks.matlab.{name}").main()
    expected = metric(capsys.readouterr().out)
    assert metric(run(name, {}, device)[0]) == pytest.approx(expected, rel=2e-6)
    with runmat.disable():
        importlib.import_module(f"benchmarks.matlab.{name}").main()
    assert metric(capsys.readouterr().out) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("name", "variable", "function", "data"),
    [
        ("elementwise", "x", elementwise.elementwise, np.linspace(0, 12, 10_001)),
        ("image_4k", "imgs", image_4k.image_4k, np.random.default_rng(0).random((90, 60, 2))),
    ],
)
def test_as_many_kernels_run_as_for_the_python_version(name, variable, function, data):
    data = np.asarray(data, np.float32)
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
