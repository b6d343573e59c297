"""Small realistic NumPy programs. Oracle: each undecorated, on several data sets, shapes, dtypes
and memory layouts.
"""

import os

import pytest

from tests.parity.parity import DifferenceError, check, configurations
from tests.parity.program import programs

WHOLE = os.environ.get("RUNMAT_TEST_PROFILE", "default") != "default"
PROGRAMS = programs()

# Where a RuntimeWarning is an error, as in our other tests, each operation runs by itself.
pytestmark = pytest.mark.filterwarnings("default::RuntimeWarning")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_decorated_program_does_what_the_plain_one_does(name):
    program = PROGRAMS[name]
    if program.differs:
        with pytest.raises(DifferenceError):  # if none is raised: remove its `differs`
            check_all(program, whole=True)
    else:
        check_all(program, whole=WHOLE)


def check_all(program, *, whole):
    for configuration in configurations(program, whole=whole):
        check(program, configuration)
