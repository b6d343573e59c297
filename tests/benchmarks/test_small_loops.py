"""The benchmark of short loops runs, and compares before it measures."""

from benchmarks import small_loops


def test_it_compares_and_measures(capsys, monkeypatch):
    monkeypatch.setattr(small_loops, "by_numba", lambda _fn: None)
    monkeypatch.setattr(small_loops, "WARM", 40)
    monkeypatch.setattr(small_loops, "ROUNDS", 2)
    small_loops.main(["--only", "doubled,crossings"])
    printed = capsys.readouterr().out
    assert printed.count("doubled") == printed.count("crossings") == 2
