"""The programs of the regret benchmark. Oracle: the same programs without a decorator."""

import pytest

import runmat_jit as runmat
from benchmarks.regret import __main__ as regret
from benchmarks.regret.process import Measured, agree, load
from benchmarks.regret.small import names

pytestmark = [
    pytest.mark.sampled(6),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, which both have
]
SMALL = [f"small:{name}" for name in names() if int(name.partition("/")[2]) < 10_000]


@pytest.mark.parametrize("name", [*regret.programs("programs"), *SMALL])
def test_decorated_programs_give_the_same_whenever_they_are_compiled(name, steps_aside):
    plain, ours = load(name, None), load(name, runmat.jit)
    for _ in range(2 if "small" not in name else 6):
        assert agree(plain(), ours())


def test_the_report_tells_the_worst_prefix(capsys):
    found = Measured("maze", ours=[3.0, 1.0, 1.0], plain=[1.0, 1.0, 1.0], import_s=0.01)
    figures = regret.row(found)
    assert figures["first"] == 3.0
    assert figures["3"] == pytest.approx(5 / 3)
    assert figures["worst beyond 2x"] == 1000.0
    assert figures["regret"] == 1500.0
    assert figures["settled"] == 1.0
    regret.report("programs", "cold", [found])
    assert "maze" in capsys.readouterr().out
