"""The benchmark of MATLAB loops: scripts are run, and their texts compared where Octave is."""

from benchmarks import matlab_loops


def test_scripts_are_run(capsys, monkeypatch):
    monkeypatch.setattr(matlab_loops, "OCTAVE", "no such program")
    matlab_loops.main(["--only", "logistic", "--rounds", "1"])
    (_, row) = capsys.readouterr().out.strip().splitlines()
    assert row.split()[0] == "logistic"
    assert float(row.split()[2]) > 0
