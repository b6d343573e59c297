"""Time."""

from __future__ import annotations

import time

import numpy as np

from matlab_frontend.builtins.registry import Call, builtin
from matlab_frontend.errors import MatlabError
from matlab_frontend.values.array import Array, Value
from matlab_frontend.values.make import row
from matlab_frontend.values.read import number_of


@builtin("tic")
def tic(call: Call) -> Value | None:
    """Start the stopwatch; with an output, one of its own."""
    started = call.session.clock()
    if call.outputs:
        return Array("uint64", np.full((1, 1), int(started * 1e6), np.uint64))
    call.session.started = started
    return None


@builtin("toc")
def toc(call: Call, started: Value | None = None) -> Value | None:
    """Seconds since ``tic``; without an output, printed."""
    now = call.session.clock()
    begin = call.session.started
    if started is not None:
        begin = number_of(call.engine, started) / 1e6
    if begin is None:
        raise MatlabError(
            "MATLAB:toc:callTicFirstNoInputs",
            "You must call 'tic' without an output argument before calling 'toc' without an "
            "input argument.",
        )
    if call.outputs:
        return now - begin
    call.session.write(f"Elapsed time is {now - begin:.6f} seconds.\n")
    return None


@builtin("clock")
def clock(_: Call) -> Value:
    """Year, month, day, hour, minute and second."""
    now = time.localtime()
    return row([*map(float, now[:5]), now.tm_sec + time.time() % 1])


@builtin("cputime")
def cputime(_: Call) -> Value:
    """Seconds of the processor that this process used."""
    return time.process_time()


@builtin("pause")
def pause(call: Call, seconds: Value = 0.0) -> None:
    """Wait; without a number, go on at once, as nobody can press a key."""
    time.sleep(max(number_of(call.engine, seconds), 0.0))
