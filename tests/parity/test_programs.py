"""Small realistic NumPy programs. Oracles: each undecorated, on several data sets, shapes, dtypes
and memory layouts; for how much of them is compiled, the committed page.
"""

import os
import pickle
from pathlib import Path

import pytest

from tests.parity.coverage import COMMAND, PAGE, floor_of, measured, ratio, render, rows_of, worse
from tests.parity.parity import DifferenceError, check, configurations
from tests.parity.program import programs

WHOLE = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
PROGRAMS = programs()
COMMITTED = PAGE.read_text(encoding="utf-8")

# Where a RuntimeWarning is an error, as in our other tests, each operation runs by itself.
pytestmark = [pytest.mark.filterwarnings("default::RuntimeWarning"), pytest.mark.sampled(8)]


def coverage(name):
    """The coverage of a program, measured by one of the processes of a run."""
    kept = Path(os.environ["RUNMAT_TESTS_SHARED"], f"{name}.coverage")
    if kept.exists():
        return pickle.loads(kept.read_bytes())
    found = measured(name)[0]
    unfinished = kept.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(pickle.dumps(found))
    unfinished.replace(kept)
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_decorated_program_does_what_the_plain_one_does(name):
    program = PROGRAMS[name]
    coverage(name)  # is what others ask for later
    whole = configurations(program, whole=WHOLE or bool(program.differs))
    if program.differs:
        with pytest.raises(DifferenceError):  # if none is raised: remove its `differs`
            check(program, *whole)
    else:
        check(program, *whole[1:], whole[0], decorated=measured(name)[1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_compiled_as_the_coverage_page_says(name):
    lost = worse(coverage(name), rows_of(COMMITTED).get(name))
    assert not lost, f"{name}: {lost}. If that is wanted, or the program is new, run `{COMMAND}`"


@pytest.mark.slow
def test_the_floor_of_the_coverage_page_holds():
    assert ratio([coverage(name) for name in PROGRAMS]) >= floor_of(COMMITTED)


@pytest.mark.slow
def test_the_coverage_page_is_what_is_measured():
    found = {name: coverage(name) for name in PROGRAMS}
    assert render(found, floor_of(COMMITTED)) == COMMITTED, f"run `{COMMAND}`"
