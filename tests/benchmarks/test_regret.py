"""The programs of the regret benchmark. Oracle: the same programs without a decorator."""

import pytest

import runmat_jit as runmat
from benchmarks import suite
from benchmarks.regret.process import agree, load

pytestmark = [
    pytest.mark.sampled(6),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, which both have
]
WHOLE = [name.removeprefix("regret.") for name in suite.whole_programs()]
SMALL = [name.removeprefix("regret.") for name in suite.small_functions()]
SMALL = [name for name in SMALL if int(name.partition("/")[2]) < 10_000]


@pytest.mark.parametrize("name", [*WHOLE, *SMALL])
def test_decorated_programs_give_the_same_whenever_they_are_compiled(name, steps_aside):
    plain, ours = load(name, None), load(name, runmat.jit)
    for _ in range(2 if "small" not in name else 6):
        assert agree(plain(), ours())
