"""Oracle: the expected text of the programs, and the NumPy engine on the same program."""

from pathlib import Path

import numpy as np
import pytest

import runmat_jit as runmat
from matlab_frontend.engine import Adapter, NumpyEngine
from matlab_frontend.lazy_engine import LazyEngine
from matlab_frontend.run import engine_for, run_source
from matlab_frontend.session import Session
from matlab_frontend.source import Source
from runmat_jit.api import program_tracer

pytestmark = pytest.mark.sampled(3)

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.m"))
STORING = (
    *("accumulators", "cells_basic", "concatenation", "control_for", "growth_and_kinds"),
    *("indexing_assignment", "indexing_deletion", "indexing_pages", "lms_filter", "logical_masks"),
    *("programs_gauss", "single_class", "struct_updates", "while_with_vectors"),
)
"""Programs that store into arrays, in loops too."""

CHAIN = """
y0 = sin(x).*exp(-x/10);
y1 = y0.*cos(x/4) + 0.25*(y0.^2);
y2 = tanh(y1) + 0.1*y1;
"""

IMAGE = """
mu = mean(X, [1 2]);
sigma = sqrt(mean((X - mu).^2, [1 2]) + 1e-6);
out = max((X - mu) ./ sigma * 1.0123 - 0.02, 0) .^ 1.8;
mse = mean((out - X).^2, 'all');
"""


def lazy(small=0):
    return LazyEngine(lambda _: program_tracer(), small)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_recording_everything_prints_the_same(program):
    printed = []
    run_source(Source.from_file(program), {}, Session(lazy(), write=printed.append))
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")


class KeepingEngine(LazyEngine):
    """Keeps what operations give on the device, as if everything were gpuArrays."""

    def apply(self, row, *operands):
        return self.keep_any(super().apply(row, *operands))

    def take(self, data, key):
        return self.keep_any(super().take(data, key))

    def put(self, data, key, value, *, exclusive):
        return self.keep_any(super().put(data, key, value, exclusive=exclusive))

    def keep_any(self, made):
        return self.keep(made) if isinstance(made.shape, tuple) and made.shape else made


@pytest.mark.parametrize("name", STORING)
def test_keeping_everything_on_the_device_prints_the_same(name):
    printed = []
    program = next(path for path in PROGRAMS if path.stem == name)
    adapter = Adapter("any", has_doubles=True)
    engine = KeepingEngine(lambda _: program_tracer("gpu"), 0, lambda: adapter)
    run_source(Source.from_file(program), {}, Session(engine, write=printed.append))
    assert "".join(printed) == program.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_statements_are_fused_and_give_the_numpy_engines_values(kind):
    x = np.linspace(0, 12, 10_001, dtype=kind)
    runmat.telemetry.reset()
    recorded = run_source(Source(CHAIN), {"x": x}, Session(engine_for("cpu")))
    found = recorded["y2"]
    assert runmat.telemetry.snapshot()["kernel_launches"] == 1
    expected = run_source(Source(CHAIN), {"x": x}, Session(NumpyEngine()))["y2"]
    assert found.dtype == expected.dtype == kind
    np.testing.assert_allclose(found, expected, rtol=1e-5 if kind is np.float32 else 1e-12)


def test_an_image_is_normalized_as_by_the_numpy_engine():
    images = np.random.default_rng(0).random((48, 64, 3), dtype=np.float32)
    found = run_source(Source(IMAGE), {"X": images}, Session(lazy()))
    expected = run_source(Source(IMAGE), {"X": images}, Session(NumpyEngine()))
    np.testing.assert_allclose(found["out"], expected["out"], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(found["mse"], expected["mse"], rtol=1e-5)


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("options", ["", ", [], 1", ", [], 2", ", [], 'all'"])
def test_extremes_leave_nan_out_in_one_program_of_a_gpu(kind, options):
    x = np.random.default_rng(0).standard_normal((60, 90)).astype(kind)
    x[x > 1] = np.nan
    x[:, 3], x[5] = np.nan, np.nan
    x[7, 9], x[8, 9] = np.inf, -np.inf
    x[:, 11] = -np.inf
    code = f"a = max(x{options}); b = min(x{options});"
    runmat.telemetry.reset()
    found = run_source(Source(code), {"x": x}, Session(engine_for("gpu")))
    results = [found["a"], found["b"]]
    counts = runmat.telemetry.snapshot()
    assert counts["programs_built"] <= 1 <= counts["kernel_launches"]
    expected = run_source(Source(code), {"x": x}, Session(NumpyEngine()))
    np.testing.assert_array_equal(results, [expected["a"], expected["b"]])
    assert results[0].dtype == kind


def test_small_arrays_are_not_recorded():
    engine = engine_for("cpu")
    run_source(Source("x = 1:10; y = sum(sin(x)); disp(y)"), {}, Session(engine, write=len))
    assert "nothing was fused" in engine.explain()


def test_explain_names_the_regions():
    engine = engine_for("cpu")
    run_source(
        Source(f"x = linspace(0, 1, 10000); {CHAIN} disp(y2(5))"), {}, Session(engine, write=len)
    )
    assert "elementwise on cpu" in engine.explain()


def test_explain_says_the_lines_and_counts_repeated_programs():
    engine = engine_for("cpu")
    code = "x = zeros(1, 5000);\nfor k = 1:9\n  x = sin(x) + k;\nend\ndisp(x(1))"
    run_source(Source(code, "loop.m"), {}, Session(engine, write=len))
    shown = engine.explain()
    assert "at loop.m:3" in shown
    assert "2 compiled programs ran 10 times" in shown


def test_lines_of_functions_are_named():
    engine = engine_for("cpu")
    code = "x = linspace(0, 1, 5000); y = f(x); disp(sum(y))\nfunction y = f(x)\ny = exp(x);\nend"
    run_source(Source(code, "calls.m"), {}, Session(engine, write=len))
    assert "at calls.m:3 in f" in engine.explain()
    assert "at calls.m:1\n" in engine.explain()


def test_steps_of_a_loop_share_one_compiled_program():
    runmat.telemetry.reset()
    code = "x = ones(1, 5000); for k = 1:20, t = x * k; x = x + t .* rand(1, 5000); end"
    found = run_source(Source(code), {}, Session(engine_for("cpu")), frozenset("x"))["x"]
    assert found.shape == (1, 5000)
    counts = runmat.telemetry.snapshot()
    assert counts["programs_built"] <= 2
    assert counts["kernel_launches"] == 21


def test_variables_that_nothing_reads_are_not_stored():
    code = "y0 = sin(x); y1 = cos(y0); disp(y1(7))"
    x = np.linspace(0, 1, 10_000)
    moved = []
    for results in (None, frozenset()):
        runmat.telemetry.reset()
        run_source(Source(code), {"x": x}, Session(engine_for("cpu"), write=len), results)
        moved.append(runmat.telemetry.snapshot()["bytes_moved"])
    assert moved[0] - moved[1] == x.nbytes
