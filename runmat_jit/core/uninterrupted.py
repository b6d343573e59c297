"""Work that no signal handler interrupts.

Python runs handlers on the main thread alone, between any two instructions of what it does, and
what one raises may come between a step and the note that the step is done. What cannot do with that
is done on another thread; a handler then interrupts but the waiting for it.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from runmat_jit.core.locks import llvm_lock, llvm_lock_as_found

T = TypeVar("T")

_AWAITED: Final[set[_thread.LockType]] = set()


def await_thread(work: Callable[[], None]) -> None:
    """Wait for a thread that does some work, which raises nothing.

    A child that a handler forks meanwhile has no such thread, and waits no longer.
    """
    done = _thread.allocate_lock()  # of this call alone, so that a handler's call may wait as well
    done.acquire()

    def do() -> None:
        try:
            work()
        finally:
            done.release()

    _AWAITED.add(done)
    try:
        try:
            # No `Thread`, whose start waits for the thread.
            _thread.start_new_thread(do, ())
        except RuntimeError:  # there are no more threads, as at the end of the interpreter
            do()
        done.acquire()
    finally:
        _AWAITED.discard(done)


def with_llvm(work: Callable[[], T]) -> T:
    """What some work with LLVM, which is loaded, gives or raises; no child is forked meanwhile.

    LLVM's objects cannot do with half of it: one that is released, without a note of it, is
    released twice. A handler that has interrupted this thread in LLVM cannot wait for another one.
    """
    if threading.current_thread() is not threading.main_thread() or llvm_lock()._is_owned():
        with llvm_lock_as_found(), llvm_lock():
            return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def do() -> None:
        try:
            with llvm_lock_as_found(), llvm_lock():
                results.append(work())
        except BaseException as error:  # noqa: BLE001  (raised by the thread that waits)
            errors.append(error)

    while not results and not errors:  # a child, of before the work began, has to begin it
        await_thread(do)
    if errors:
        raise errors.pop()  # a cycle with its traceback would keep LLVM's objects, for a collector
    return results[0]


def after_fork_in_child() -> None:
    """Let nobody wait for a thread that the child does not have."""
    for done in tuple(_AWAITED):
        if done.locked():
            done.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=after_fork_in_child)
