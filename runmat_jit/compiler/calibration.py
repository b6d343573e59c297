"""Measures the GPU of the machine in the background, the first time that it might win."""

from __future__ import annotations

import atexit
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from runmat_jit.core.errors import BackendError
from runmat_jit.core.log import PLACEMENT
from runmat_jit.plan.place import worth_opening
from runmat_jit.runtime.session import use_session

if TYPE_CHECKING:
    from runmat_jit.plan.price import Price
    from runmat_jit.plan.profile import Profile
    from runmat_jit.runtime.gpu import Gpu
    from runmat_jit.runtime.session import Session

Moved = tuple[list[int], list[int]]


class _StoppedError(Exception):
    """The process ends."""


class Calibration:
    """The one measurement of a session, in a thread of its own.

    Until it is over, programs are placed by the shipped profile of a small GPU. Then all are made
    anew, if the measured GPU might have won one that was placed on the CPU.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._placed: list[tuple[Price, Moved]] = []
        """Programs that were placed meanwhile: their prices on the CPU, and what would be moved."""
        self._stops = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def begin(self, on_cpu: Price, moved: Moved) -> None:
        """Begin to measure, or go on; remember a program that is placed without the result.

        Args:
            on_cpu: The price of the program on the CPU.
            moved: Bytes of each array that would go to the GPU, and of each that would come back.

        """
        with self._lock:
            if self._thread is not None and not self._thread.is_alive():
                return
            self._placed.append((on_cpu, moved))
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="runmat calibration", daemon=True
                )
                atexit.register(self.stop)
                self._thread.start()

    def stop(self) -> None:
        """End the measurement before its next step, and wait for that."""
        self._stops.set()
        self.wait()

    def wait(self) -> None:
        """Wait until the measurement is over; at once if there is none."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            gpu = self._session.hardware_gpu()
            if gpu is not None and not gpu.info.software:
                self._use(gpu, self._profile_of(gpu))
        except _StoppedError:
            pass
        except BackendError as error:
            self._say(f"not measured: {error}")
        finally:
            atexit.unregister(self.stop)

    def _profile_of(self, gpu: Gpu) -> Profile:
        """The profile that was kept, or a new one."""
        profiles = self._session.profiles
        found = profiles.find("gpu", gpu.info.key)
        if found is not None:
            return found
        from runmat_jit.compiler.calibrate_gpu import measure_gpu  # noqa: PLC0415  (loads the GPU)

        begun = time.perf_counter()
        found = measure_gpu(gpu, self._tell)
        profiles.keep(found, "gpu", gpu.info.key)
        self._say(f"{gpu.info}: measured in {time.perf_counter() - begun:.1f} s, in the background")
        return found

    def _use(self, gpu: Gpu, profile: Profile) -> None:
        """Place programs by a profile from now on."""
        session = self._session
        gpu.backend.device.tuning = profile.tuning or gpu.backend.device.tuning
        session.__dict__["gpu_profile"] = profile
        with self._lock:
            placed = tuple(self._placed)
        assert profile.link is not None, "of a device with memory of its own"
        opened = replace(profile, link=replace(profile.link, opening_us=0.0))
        if any(worth_opening(*each, opened) is None for each in placed):
            # Another configuration, chosen meanwhile, has programs of its own.
            use_session(session.configured(session.config), instead_of=session)

    def _tell(self, _what: str) -> None:
        if self._stops.is_set():
            raise _StoppedError

    def _say(self, what: str) -> None:
        self._session.log.getChild(PLACEMENT).info("%s", what)
