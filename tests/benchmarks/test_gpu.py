"""The contests on a GPU, as a smoke run on any adapter; oracles: the contests' own checks."""

import json

import numpy as np
import pytest

from benchmarks.gpu import breadth, loops
from benchmarks.gpu.__main__ import main
from benchmarks.gpu.contests import CONTESTS
from benchmarks.gpu.programs import PROGRAMS
from runmat_jit.runtime.session import Session, use_session
from tests.backends.wgpu.conftest import adapter  # noqa: F401  (a fixture)

pytestmark = [  # the peer's own
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:TensorFloat32 tensor cores:UserWarning"),
]


@pytest.fixture
def own_session():
    """Contests change options."""
    before = use_session(Session())
    yield
    use_session(before)


@pytest.mark.usefixtures("adapter", "own_session")
def test_a_quick_run_checks_and_times_every_contest(tmp_path, capsys):
    path = tmp_path / "found.json"
    assert main(["--quick", "--json", str(path)]) == 0
    report = json.loads(path.read_text())
    assert [each["contest"] for each in report["contests"]] == [c.name for c in CONTESTS]
    assert all(len(each["seconds"]["runmat"]) == 3 for each in report["contests"])
    printed = capsys.readouterr().out
    assert report["device"]["adapter"] in printed
    assert "chain: 20003 float32, on gpu" in printed


@pytest.mark.usefixtures("own_session")
@pytest.mark.parametrize("contest", CONTESTS, ids=lambda contest: contest.name)
def test_a_wrong_answer_is_seen(contest):
    inputs = contest.make_inputs(contest.quick_shape, 0)
    right = contest.function(*inputs)
    if not contest.reproducible:  # NumPy's bits are not ours
        assert contest.check(inputs, right) == ""
    first = right[0] if isinstance(right, tuple) else right
    wrong = np.float32(first) * np.float32(1.001)
    assert contest.check(inputs, (wrong, right[1]) if isinstance(right, tuple) else wrong) != ""


@pytest.mark.parametrize("name", ["odd rows", "relu_product", "heat"])
def test_a_program_of_the_breadth_is_checked_and_timed(gpu, capsys, name):
    assert breadth.main(["--quick", "--only", name]) == 0
    printed = capsys.readouterr().out
    assert name in printed
    assert "on [" not in printed  # all of it ran on the GPU


def test_a_loop_is_checked_and_timed(gpu, capsys):
    assert loops.main(["--quick", "--only", "filtered_noise"]) == 0
    assert "filtered_noise" in capsys.readouterr().out


def test_a_wrong_answer_ends_the_breadth(gpu):
    (program,) = (each for each in PROGRAMS if each.name == "heat")
    x = program.make(np.random.default_rng(0), 64)
    with pytest.raises(breadth.WrongAnswerError):
        breadth.check(program, program.numpy(*x) + np.float32(0.1), x)
