"""The benchmark of scans and positions: every program is measured after its bits are compared."""

from benchmarks import scans


def test_every_program_is_measured(capsys):
    scans.main(["--rounds", "1", "--largest", "10000"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in scans.PROGRAMS)
