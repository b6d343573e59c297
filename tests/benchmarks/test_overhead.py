"""The costs of calls. Oracle: a line for each contest, each of which compares results first."""

import pytest

from benchmarks.overhead import Contest, main, measure


def test_a_quick_run_compares_and_times_every_contest(capsys):
    lines = main(["--quick"])
    assert len(lines) == 8
    assert all(" us a call on " in line for line in lines)
    assert capsys.readouterr().out.count("\n") == 8


def test_different_results_end_a_contest():
    def check():
        raise AssertionError("results differ")

    with pytest.raises(AssertionError, match="results differ"):
        measure(Contest("none", lambda: None, lambda: None, 1, check), 1)
