"""The benchmark of loops that append to lists: every program is measured, and runs natively."""

from benchmarks import element_loops, list_loops
from runmat_jit.runtime.session import current_session


def test_every_program_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(element_loops, "by_numba", lambda _fn: None)
    before = current_session().telemetry.snapshot()["loops_run"]
    list_loops.main(["--quick", "--only", "orbit,peaks,trades,distances"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("orbit", "peaks", "trades", "distances"))
    assert current_session().telemetry.snapshot()["loops_run"] > before + 4 * 8
