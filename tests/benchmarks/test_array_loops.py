"""The benchmark of loops over arrays: every program is measured, and runs natively."""

from benchmarks import array_loops, element_loops
from runmat_jit.runtime.session import current_session


def test_every_program_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(element_loops, "by_numba", lambda _fn: None)
    before = current_session().telemetry.snapshot()["loops_run"]
    array_loops.main(["--quick", "--only", "waves_on_a_string,kalman,elimination"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("waves_on_a_string", "kalman", "elimination"))
    assert current_session().telemetry.snapshot()["loops_run"] > before + 3 * 8
