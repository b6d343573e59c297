"""Oracle: the same programs without a device, and the bytes that telemetry counted."""

import numpy as np
import pytest

import runmat_jit as runmat
from matlab_frontend.cli import main
from runmat_jit import matlab

pytestmark = pytest.mark.usefixtures("gpu")

X = np.linspace(0.1, 1, 50_000, dtype=np.float32)
SMALL = np.linspace(-1, 1, 12).reshape(3, 4)
COUNTS = "bytes_uploaded", "bytes_downloaded"


def moved(code, **variables):
    """What a program left, and the bytes it had copied to the device and back."""
    runmat.telemetry.reset()
    found = dict(matlab.run(code, variables, device="gpu"))
    counts = runmat.telemetry.snapshot()
    return found, *(counts[name] for name in COUNTS)


def test_an_array_is_uploaded_once_and_results_stay_on_the_device():
    loop = "for k = 1:6, g = sin(g) .* k + 0.5; end, m = mean(g);"
    last = "g = 0; g2 = 0;"  # nothing large is left to look at
    found, up, down = moved(f"g = gpuArray(x); {loop} m = gather(m); x = 0; {last}", x=X)
    assert X.nbytes <= up < 1.2 * X.nbytes  # beside the array the arguments of kernels
    assert down == X.itemsize
    ordinary = matlab.run(f"g = x; {loop}", {"x": X}, device="cpu")
    np.testing.assert_allclose(found["m"], ordinary["m"], rtol=1e-5)


def test_ordinary_arrays_are_copied_for_each_computation():
    code = "g = x; for k = 1:6, g = sin(g) .* k + 0.5; end, m = mean(g); x = 0; g = 0;"
    assert moved(code, x=X)[1] > 5 * X.nbytes


def test_ordinary_arrays_beside_gpu_arrays_are_copied_and_the_results_stay():
    code = "g = gpuArray(x); h = g + y; h = h .* 2; m = gather(sum(h)); g = 0; h = 0; x = 0; y = 0;"
    found, up, down = moved(code, x=X, y=X)
    assert 2 * X.nbytes <= up < 2.2 * X.nbytes
    assert down == X.itemsize
    np.testing.assert_allclose(found["m"], 4 * X.sum(), rtol=1e-4)


def test_what_was_computed_before_is_kept_too():
    code = "y = x * 2; d = y(7); g = gpuArray(y); for k = 1:4, m = sum(g + k); t = gather(m); end"
    found, up, _ = moved(f"{code} g = 0; y = 0; x = 0;", x=X)
    assert up < 2.4 * X.nbytes  # x for its double, and that for the loop
    np.testing.assert_allclose(found["t"], (X * 2 + 4).sum(dtype=np.float64), rtol=1e-4)


@pytest.mark.parametrize("reduction", ["sum", "mean", "max", "min", "any"])
def test_of_a_reduction_only_the_result_is_copied_back(reduction):
    code = f"g = gpuArray(x); if {reduction}(g) > 0, t = 1; end, g = 0; x = 0;"
    found, up, down = moved(code, x=X)
    assert found["t"] == 1
    assert X.nbytes <= up < 1.1 * X.nbytes
    assert down <= 4


def test_random_numbers_are_made_on_the_device():
    code = "r = rand(200, 200, 'like', gpuArray(single(0))); m = gather(mean(r, 'all')); r = 0;"
    found, up, down = moved(code)
    assert up < 10_000
    assert down == 4
    assert found["m"] == pytest.approx(0.5, abs=0.01)


def test_stores_to_slices_happen_on_the_device():
    code = "g = gpuArray(x); g(1:100) = 7; g(end) = 1; m = gather(sum(g)); g = 0; x = 0;"
    found, up, down = moved(code, x=X)
    assert up < 1.2 * X.nbytes
    assert down == X.itemsize
    expected = X.astype(np.float64)
    expected[:100], expected[-1] = 7, 1
    np.testing.assert_allclose(found["m"], expected.sum(), rtol=1e-5)


@pytest.mark.parametrize(
    "expression",
    [
        *("x + 1", "2 - x", "x .* x", "x * x'", "-x", "~x", "x'", "x > 0", "x & 1", "x .^ 2"),
        *("x(2, :)", "x(5)", "x(:)", "x(x > 0)", "x([1 3], [2 2])", "[x; x]", "[x(1, :) 1 2]'"),
        *("sin(x)", "abs(x)", "sqrt(x)", "exp(x)", "floor(x)", "mod(x, 2)", "max(x, 0)"),
        *("sum(x)", "mean(x, 2)", "max(x)", "any(x > 0)", "cumsum(x)", "prod(x, 'all')", "std(x)"),
        *("find(x > 0)", "sort(x, 2)", "reshape(x, 4, 3)", "repmat(x, 2, 1)", "permute(x, [2 1])"),
        *("single(x)", "int8(x)", "logical(x)", "cast(x, 'single')", "isnan(x)", "real(x)"),
        *("zeros(2, 'like', x)", "norm(x)", "inv(x(:, 1:3))", "unique(x)", "fft(x)", "x(1):3"),
        *("arrayfun(@(t) t + 1, x)", "diag(x)", "circshift(x, 1)", "double(x)", "conj(x)"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_results_are_gpu_arrays_with_the_ordinary_elements(expression):
    ordinary = f"y = {expression}; c = class(y);"
    code = f"x = gpuArray(x); {ordinary} u = underlyingType(y);"
    found = matlab.run(code, {"x": SMALL}, device="gpu")
    expected = matlab.run(ordinary, {"x": SMALL}, device="cpu")
    assert (found["c"], found["u"]) == ("gpuArray", expected["c"])
    np.testing.assert_allclose(found["y"], expected["y"])


@pytest.mark.parametrize(
    "expression",
    [
        *("size(x)", "numel(x)", "isempty(x)", "isequal(x, x)", "ndims(x)", "isreal(x)"),
        *("gather(x)", "num2str(x(1))", "sprintf('%g,', x)", "ischar(x)", "zeros(size(x))"),
        *("x(1) > 0 && true", "mat2str(x)", "isnumeric(x)", "isa(x, 'float')", "func2str(@sin)"),
    ],
)
def test_facts_texts_and_gathered_arrays_are_ordinary(expression):
    code = f"y = {expression}; g = isgpuarray(y); c = class(y);"
    found = matlab.run(f"x = gpuArray(x); {code}", {"x": SMALL}, device="gpu")
    expected = matlab.run(code, {"x": SMALL}, device="cpu")
    assert not found["g"]
    assert found["c"] == expected["c"]
    np.testing.assert_array_equal(found["y"], expected["y"])


@pytest.mark.parametrize("size", [12, 5000])
@pytest.mark.parametrize(
    "statements",
    [
        "x(3) = 7;",
        "x(end + 2) = 1;",
        "x([1 2]) = [];",
        "x(2:4) = gpuArray(5);",
        "x(x > 0.5) = 0;",
        "y = ones(1, numel(x)); y(2) = x(3); x = y;",
        "y = x; x(1) = 100; x = x + y;",
        "for v = x(1:3), x = x + v; end",
        "if any(x > 0.5), x = x * 2; end",
        "while sum(x) > 1, x = x / 2; end",
        "x = f(x); function y = f(x), y = x + 1; end",
        "s.a = x; c = {x}; x = s.a + c{1};",
        "x(2, :) = 1; x = x';",
    ],
)
def test_stores_growth_branches_and_loops_do_to_gpu_arrays_what_they_do_to_others(statements, size):
    x = np.linspace(0, 1, size)
    expected = matlab.run(statements, {"x": x}, device="cpu")["x"]
    parts = statements.partition(" function")
    code = f"x = gpuArray(x); {parts[0]} g = isgpuarray(x);{''.join(parts[1:])}"
    found = matlab.run(code, {"x": x}, device="gpu")
    assert found["g"]
    np.testing.assert_allclose(found["x"], expected, rtol=1e-12)


def printed(code, capsys, device="gpu"):
    assert main(["-e", code, "--device", device]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("value", ["magic(3)", "single([1 2.5])", "true", "5", "int8([1;2])"])
def test_a_gpu_array_is_shown_by_its_elements(value, capsys):
    shown = printed(f"x = gpuArray({value}), disp(x)", capsys)
    assert shown == printed(f"x = {value}, disp(x)", capsys)


def test_classes_of_gpu_arrays():
    code = """
    g = gpuArray(single([1 2]));
    y = {class(g), isa(g, 'gpuArray'), isa(g, 'single'), isa(g, 'float'), classUnderlying(g), ...
         existsOnGPU(g), isUnderlyingType(g, 'single'), class(gather(g)), ...
         class(ones(2, 'gpuArray'))};
    """
    found = matlab.run(code, device="gpu")["y"]
    expected = ["gpuArray", True, False, True, "single", True, True, "single", "gpuArray"]
    assert found == expected


def test_the_device_says_its_name():
    found = matlab.run("d = gpuDevice; n = gpuDeviceCount; u = canUseGPU;", device="gpu")
    names = [device.name for device in runmat.devices() if device.kind == "gpu"]
    assert found["d"]["Name"] in names
    assert (found["d"]["Index"], found["n"], found["u"]) == (1, 1, True)


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_without_a_device_gpu_arrays_are_ordinary_ones(device):
    code = """
    g = gpuArray(single(1)); y = {class(g), isgpuarray(g), canUseGPU, gpuDeviceCount, ...
        class(ones(2, 'gpuArray')), exist('gpuArray', 'builtin')};
    try, gpuDevice; catch e, y{end + 1} = e.identifier; end
    """
    found = matlab.run(code, device=device)["y"]
    assert found == ["single", False, False, 0, "double", 5, "parallel:gpu:device:NoDevice"]


@pytest.mark.parametrize("value", ["'text'", "{1}", "struct('a', 1)"])
def test_only_numbers_and_truth_values_go_to_a_device(value):
    for device in ("cpu", "gpu"):
        with pytest.raises(matlab.MatlabError, match="numbers or truth values"):
            matlab.run(f"gpuArray({value})", device=device)


def test_there_is_one_device():
    with pytest.raises(matlab.MatlabError, match="index 1"):
        matlab.run("gpuDevice(2)", device="gpu")


def test_a_device_of_another_name_is_refused():
    with pytest.raises(runmat.ArgumentError, match="cpu, gpu, auto"):
        matlab.run("x = 1;", device="tpu")


@pytest.mark.parametrize("program", ["elementwise", "image_4k"])
def test_benchmarks_print_the_same_metric_on_each_device(program, capsys, monkeypatch):
    sizes = {"ELEMENTWISE_POINTS": 20_001, "IMG_B": 2, "IMG_H": 54, "IMG_W": 96}
    for name, size in sizes.items():
        monkeypatch.setenv(name, str(size))
    metrics = []
    for device in ("cpu", "gpu"):
        assert main([f"benchmarks/matlab/{program}.m", "--device", device]) == 0
        metrics.append(float(capsys.readouterr().out.partition("=")[2]))
    assert metrics[0] == pytest.approx(metrics[1], rel=1e-4)
