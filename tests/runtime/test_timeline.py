"""What took how long. Oracles: a clock that is told what to say; what the program did."""

import atexit
import json
import os
import subprocess
import sys
import threading

import pytest

from runmat_jit.runtime import timeline as module
from runmat_jit.runtime.timeline import Timeline

PROGRAM = """
import numpy as np
import runmat_jit as runmat

@runmat.jit
def shares(x):
    e = np.exp(x)
    return e / e.sum()

@runmat.jit
def running(x):
    for i in range(1, len(x)):
        x[i] += 0.5 * x[i - 1]
    return x

for _ in range(3):
    shares(np.ones(50_000))
    running(np.ones(100_000))
"""


@pytest.fixture
def now(monkeypatch):
    time = [1000]
    monkeypatch.setattr(module, "perf_counter_ns", lambda: time[0])
    return time


def test_totals_add_up_and_the_longest_come_first(now):
    found = Timeline()
    for name, took in (("a", 2000), ("b", 9000), ("a", 3000)):
        start = now[0]
        now[0] += took
        found.add("program", name, start, device="cpu", launches=2, bytes=10)
    told = [(each["name"], each["count"], each["us"], each["bytes"]) for each in found.totals()]
    assert told == [("b", 1, 9.0, 10), ("a", 2, 5.0, 20)]
    assert [span.start_us for span in found.spans] == [0.0, 2.0, 11.0]


def test_a_span_counts_where_its_block_raises(now):
    found = Timeline()
    with pytest.raises(KeyError), found.span("call", "f"):
        now[0] += 4000
        raise KeyError
    assert found.totals()[0]["us"] == 4.0


def test_a_trace_has_an_end_and_says_so(now, monkeypatch):
    monkeypatch.setattr(module, "MOST", 3)
    found = Timeline()
    for _ in range(5):
        found.add("loop", "scan", now[0])
    trace = found.trace()
    assert (len(trace["traceEvents"]), trace["otherData"]) == (3, {"dropped": 2})
    assert found.totals()[0]["count"] == 5


def test_threads_are_told_apart():
    found = Timeline()
    threads = [threading.Thread(target=found.add, args=("call", "f", 0)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found.totals()[0]["count"] == 3
    assert all(isinstance(event["tid"], int) for event in found.trace()["traceEvents"])


def test_a_file_that_cannot_be_written_is_told(tmp_path, caplog):
    found = Timeline()
    found.write_at_exit(str(tmp_path / "absent" / "out.json"), dict)
    atexit.unregister(found.write)
    found.write()
    assert "was not written" in caplog.text


def test_a_process_writes_what_it_did(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    told, trace = tmp_path / "told.json", tmp_path / "trace.json"
    names = {"RUNMAT_TELEMETRY_OUT": str(told), "RUNMAT_TRACE_OUT": str(trace)}
    subprocess.run([sys.executable, str(program)], check=True, env={**os.environ, **names})
    report = json.loads(told.read_text())
    assert report["schema"] == module.SCHEMA
    assert report["counters"]["calls_recorded"] >= 2
    times = {(each["category"], each["name"]): each for each in report["times"]}
    assert times["call", "shares"]["count"] == times["call", "running"]["count"] == 3
    assert times["loop", "prefix_scan"]["count"] == report["loops"]["prefix_scan"]["runs"] == 3
    assert sum(e["launches"] for e in report["times"]) == report["counters"]["kernel_launches"]
    assert any(category == "compile" for category, _ in times)
    events = json.loads(trace.read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"X"}
    calls = [event for event in events if event["cat"] == "call"]
    for event in events:
        if event["cat"] == "program":  # within a call of the same thread
            end = event["ts"] + event["dur"]
            assert any(
                call["ts"] <= event["ts"] and end <= call["ts"] + call["dur"] for call in calls
            )
    assert not list(tmp_path.glob("*.part"))


def test_a_forked_child_leaves_the_files_alone(tmp_path):
    out = tmp_path / "told.json"
    code = (
        "import os, sys, numpy as np, runmat_jit as runmat\n"
        "f = runmat.jit(lambda x: x * 2 + 1)\nf(np.ones(9))\n"
        "child = os.fork()\n"
        "if not child:\n    sys.exit()\n"
        "os.waitpid(child, 0)\n"
        f"print(os.path.exists({str(out)!r}))\n"
    )
    env = {**os.environ, "RUNMAT_TELEMETRY_OUT": str(out)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, env=env, capture_output=True
    )
    assert done.stdout.split() == [b"False"]
    assert json.loads(out.read_text())["schema"] == module.SCHEMA
