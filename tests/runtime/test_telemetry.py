"""Oracle: what was counted, by hand."""

import sys
import threading

from runmat_jit.runtime.telemetry import EVENTS, Telemetry


def test_counts_of_all_threads_are_added_up():
    telemetry = Telemetry()

    def work():
        for _ in range(1000):
            telemetry.count("kernel_launches", 2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert telemetry.snapshot()["kernel_launches"] == 8000


def test_a_snapshot_names_every_counter_the_regions_and_the_loops():
    telemetry = Telemetry()
    telemetry.count_regions({"elementwise": 2})
    telemetry.count_loop("prefix_scan", 7)
    telemetry.count_loop("prefix_scan", 2)
    snapshot = telemetry.snapshot()
    assert set(snapshot) == {*EVENTS, "regions", "loops", "placements"}
    assert snapshot["regions"] == {"elementwise": 2}
    assert snapshot["loops"] == {"prefix_scan": {"runs": 2, "turns": 9}}
    telemetry.reset()
    assert telemetry.snapshot()["loops"] == {}


def test_reset_sets_everything_to_zero():
    telemetry = Telemetry()
    telemetry.count("bytes_moved", 5)
    telemetry.reset()
    telemetry.count("bytes_moved", 7)
    assert telemetry.snapshot()["bytes_moved"] == 7


def test_threads_that_ended_are_counted_and_cost_no_memory():
    telemetry = Telemetry()
    for _ in range(20):
        thread = threading.Thread(target=telemetry.count, args=("kernel_launches", 2))
        thread.start()
        thread.join()
    telemetry.count("kernel_launches")
    assert telemetry.snapshot()["kernel_launches"] == 41
    assert len(telemetry._all) == 1
    telemetry.reset()
    assert telemetry.snapshot()["kernel_launches"] == 0


def test_gates_may_be_made_while_others_are_asked_for_their_counts():
    class Gate:
        def flush(self):
            pass

    telemetry, made, is_over = Telemetry(), [], threading.Event()

    def make():
        while not is_over.is_set() and len(made) < 100_000:
            made.append(Gate())
            telemetry.counts_of(made[-1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    thread = threading.Thread(target=make)
    thread.start()
    try:
        for _ in range(200):
            telemetry.snapshot()
    finally:
        is_over.set()
        thread.join()
        sys.setswitchinterval(interval)
