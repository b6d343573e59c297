"""Calls that no replay can repeat. Oracle: a line for each kind, which compares results first."""

from benchmarks.unreplayed import KINDS, RAISING, main


def test_a_quick_run_compares_and_times_every_kind(capsys):
    main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [fn.__name__ for fn in (*KINDS, *RAISING)]
