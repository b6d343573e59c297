"""The benchmark of element loops: every program is measured, and runs natively."""

from benchmarks import element_loops
from runmat_jit.runtime.session import current_session


def test_every_program_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(element_loops, "by_numba", lambda _fn: None)
    before = current_session().telemetry.snapshot()["loops_run"]
    element_loops.main(["--quick", "--only", "lu,crc,tridiagonal"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("lu", "crc", "tridiagonal"))
    assert current_session().telemetry.snapshot()["loops_run"] > before + 3 * 8
