"""The benchmark of element loops: every program is measured, and runs natively."""

import pytest

from benchmarks import drawing_loops, element_loops
from runmat_jit.runtime.session import current_session


@pytest.mark.parametrize(
    ("programs", "names"),
    [
        (element_loops.PROGRAMS, "lu,crc,tridiagonal"),
        (drawing_loops.PROGRAMS, "ising,farthest,tour"),
    ],
)
def test_every_program_is_measured(programs, names, capsys, monkeypatch):
    monkeypatch.setattr(element_loops, "by_numba", lambda _fn: None)
    before = current_session().telemetry.snapshot()["loops_run"]
    element_loops.main(["--quick", "--only", names], programs)
    shown = capsys.readouterr().out
    assert all(name in shown for name in names.split(","))
    assert current_session().telemetry.snapshot()["loops_run"] > before + 3 * 8
