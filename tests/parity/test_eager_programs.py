"""Small realistic NumPy programs, executed eagerly. Oracle: each undecorated, on several data sets,
shapes and dtypes; and the bits of the first call for those of the later ones, which gates make.
"""

import pytest

import runmat_jit as runmat
from runmat_jit.capture.source.refusal import Refused
from runmat_jit.runtime.session import current_session
from tests.conftest import PROFILE
from tests.parity.parity import DifferenceError, check, configurations
from tests.parity.program import programs

PROGRAMS = programs()
EVERY = 4 if PROFILE == "default" else 1

# Where a RuntimeWarning is an error, as in our other tests, each operation runs by itself.
pytestmark = [pytest.mark.filterwarnings("default::RuntimeWarning"), pytest.mark.sampled(5)]


@pytest.mark.parametrize("name", list(PROGRAMS)[::EVERY])
def test_the_program_executed_eagerly_does_what_the_plain_one_does(name):
    program = PROGRAMS[name]
    captured = runmat.jit(program.fn)._dispatcher.capture(current_session())
    if isinstance(captured.capturer.rewriter.find(program.fn), Refused):
        return  # such functions are plain Python
    eager, whole = captured.call_eagerly, configurations(program, whole=EVERY == 1)
    if program.differs:
        with pytest.raises(DifferenceError):
            check(program, *whole, decorated=eager)
    else:
        check(program, *whole, decorated=eager)
