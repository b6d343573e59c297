"""The comparison tool from end to end on tiny sizes; oracle: its own exit status and JSON."""

import json

import pytest

from benchmarks import compare
from benchmarks.cases import CASES
from benchmarks.cases.case import Parity
from benchmarks.peers import NAMES, load
from benchmarks.peers.peer import PeerUnavailableError


class WrongWorker:
    """Stands for a process whose answers are wrong; fails if it is asked for a time."""

    peer = "numpy"

    def call(self, method, **_):
        assert method == "parity"
        return Parity(2.0, 0.0, "off")


def test_a_wrong_answer_is_never_timed():
    with pytest.raises(compare.ParityError, match="numpy gives a wrong answer for elementwise"):
        compare._checked(CASES["elementwise"], [WrongWorker()])


def test_unknown_cases_and_peers_are_refused(capsys):
    for arguments in (["nothing"], ["--peers", "nothing"], ["--baseline", "nothing"]):
        with pytest.raises(SystemExit):
            compare.parse(arguments)
        assert "there is no" in capsys.readouterr().err


def test_an_unknown_peer_is_unavailable_and_the_known_ones_are_named():
    with pytest.raises(PeerUnavailableError, match=NAMES[0]):
        load("nothing", CASES["elementwise"])


def test_a_run_measures_dropped_kept_small_and_first_calls(tmp_path, capsys):
    path = tmp_path / "out.json"
    arguments = "elementwise --peers numpy --size 5000 --rounds 2 --pause 0 --first-calls 1"
    assert compare.main([*arguments.split(), "--json", str(path)]) == 0
    (found,) = json.loads(path.read_text())["comparisons"]
    assert [measured["mode"] for measured in found["rounds"]] == ["dropped", "kept", "small"]
    assert set(found["first_call"]) == {"runmat", "numpy"}
    for ratios in found["ratios"]:
        assert ratios["numpy"]["median"] > 0
    assert "import runmat_jit" in capsys.readouterr().out
