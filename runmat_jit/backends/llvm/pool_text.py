"""LLVM text of the thread pool: chunks of a range, taken from one atomic ticket by whoever comes.

The ticket word is ``generation << 32 | next chunk``. The caller and every worker take chunks by
compare-and-swap, and a chunk of another generation cannot be taken, so a worker that comes late
(a busy core, a forked child, a nested call) can harm nothing, and the caller never waits for a
worker that has not begun. Outside of a run the ticket is *closed*: its chunk number is larger than
any count.

What must not be reordered, each found necessary by a stress test that hung:

- The ticket is closed before the fields of a job change. A late worker that has read a mixture of
  two jobs then fails to swap. Its swap releases, so that on any CPU its field reads come first.
- After every wake-up the condition is looked at again: the last worker of the job before may send
  one late.
- A sleeper announces itself, looks again, then sleeps; who takes the announcement back by
  exchange decides whether a wake-up is on its way and must be consumed.
- A caller that stops early lowers the count of chunks before it announces that it sleeps, and a
  worker reads that count after it has counted its chunk: one of the two sees the other.
"""

from __future__ import annotations

from runmat_jit.backends.llvm.clock_text import clock_symbols, clock_text, pause_text
from runmat_jit.backends.llvm.pool_layout import (
    CLOSED_TICKET,
    MAX_CHUNKS,
    WORKER_BYTES,
    WORKER_FIELDS,
    WORKERS_OFFSET,
    pool_pointers,
)
from runmat_jit.backends.llvm.target import Target

_WAKE_WIDTH = 4

POOL_FUNCTIONS = ("worker", "parallel_for", "stop")


def pool_symbols(target: Target) -> tuple[str, ...]:
    """C functions that the pool calls on ``target``."""
    return ("PyThread_acquire_lock", "PyThread_release_lock", *clock_symbols(target))


def pool_text(target: Target) -> str:
    """Module with ``worker(ptr)``, ``parallel_for(...)`` and ``stop(ptr)``.

    ``i64 parallel_for(ptr pool, ptr kernel, ptr args, i64 begin, i64 total, i64 grain)`` calls
    ``kernel(args, lo, hi)`` over ``[begin, total)`` and returns where it stopped: ``total``, or
    less once the caller has worked for ``slice_ms``.
    """
    return "\n".join(
        [
            "declare i32 @PyThread_acquire_lock(ptr, i32)",
            "declare void @PyThread_release_lock(ptr)",
            "declare i64 @llvm.smin.i64(i64, i64)",
            "declare i64 @llvm.umin.i64(i64, i64)",
            pause_text(target),
            clock_text(target),
            _WAKE,
            _WAKE_WORKERS,
            _WAKE_NEXT,
            _TAKE_CHUNKS,
            _WORKER,
            _SERIAL,
            _AWAIT_DONE,
            _PARALLEL_FOR,
            _STOP,
        ]
    )


# Wake whoever has announced at %parked that it sleeps on the lock stored at %p_lock.
_WAKE = """
define internal void @wake(ptr %parked, ptr %p_lock) {
entry:
  %asleep = load atomic i32, ptr %parked seq_cst, align 4
  %is_asleep = icmp eq i32 %asleep, 1
  br i1 %is_asleep, label %claim, label %out
claim:
  %claimed = atomicrmw xchg ptr %parked, i32 0 seq_cst
  %is_ours = icmp eq i32 %claimed, 1
  br i1 %is_ours, label %release, label %out
release:
  %lock = load ptr, ptr %p_lock, align 8
  call void @PyThread_release_lock(ptr %lock)
  br label %out
out:
  ret void
}"""

# Wake those of the workers %first up to %end that exist and sleep.
_WAKE_WORKERS = f"""
define internal void @wake_workers(ptr %pool, i64 %first, i64 %end) {{
entry:
{pool_pointers("workers")}
  %workers = load atomic i64, ptr %p_workers monotonic, align 8
  %stop = call i64 @llvm.smin.i64(i64 %workers, i64 %end)
  %is_some = icmp slt i64 %first, %stop
  br i1 %is_some, label %each, label %out
each:
  %index = phi i64 [%first, %entry], [%next, %each]
  %step = mul i64 %index, {WORKER_BYTES}
  %offset = add i64 %step, {WORKERS_OFFSET}
  %worker = getelementptr i8, ptr %pool, i64 %offset
  %p_lock = getelementptr i8, ptr %worker, i64 {WORKER_FIELDS["lock"]}
  call void @wake(ptr %worker, ptr %p_lock)
  %next = add i64 %index, 1
  %more = icmp slt i64 %next, %stop
  br i1 %more, label %each, label %out
out:
  ret void
}}"""

# A wake-up takes some 2 us, so nobody wakes all: the caller wakes the first few workers, each of
# whom wakes as many further ones before its first chunk. A job of n chunks wants n - 1 workers.
_WAKE_NEXT = f"""
define internal void @wake_next(ptr %pool, i64 %index) {{
entry:
{pool_pointers("chunks")}
  %ticket = load atomic i64, ptr %pool monotonic, align 8
  %chunk = and i64 %ticket, {CLOSED_TICKET}
  %chunks = load atomic i64, ptr %p_chunks monotonic, align 8
  %is_open = icmp ult i64 %chunk, %chunks
  br i1 %is_open, label %wake, label %out
wake:
  %number = add i64 %index, 1
  %first = mul i64 %number, {_WAKE_WIDTH}
  %end = add i64 %first, {_WAKE_WIDTH}
  %others = sub i64 %chunks, 1
  %stop = call i64 @llvm.smin.i64(i64 %end, i64 %others)
  call void @wake_workers(ptr %pool, i64 %first, i64 %stop)
  br label %out
out:
  ret void
}}"""

# Take chunks of one generation until none is left, or until the deadline (none when negative).
_TAKE_CHUNKS = f"""
define internal void @take_chunks(ptr %pool, i64 %generation, i64 %deadline) noinline {{
entry:
{pool_pointers("chunks", "kernel", "args", "begin", "total", "grain", "done")}
{pool_pointers("caller_parked", "caller_lock")}
  %chunks = load atomic i64, ptr %p_chunks monotonic, align 8
  %kernel = load atomic ptr, ptr %p_kernel monotonic, align 8
  %args = load atomic ptr, ptr %p_args monotonic, align 8
  %begin = load atomic i64, ptr %p_begin monotonic, align 8
  %total = load atomic i64, ptr %p_total monotonic, align 8
  %grain = load atomic i64, ptr %p_grain monotonic, align 8
  %timed = icmp sge i64 %deadline, 0
  br label %grab
grab:
  %ticket = load atomic i64, ptr %pool acquire, align 8
  %open = lshr i64 %ticket, 32
  %is_same = icmp eq i64 %open, %generation
  %chunk = and i64 %ticket, {CLOSED_TICKET}
  %is_left = icmp ult i64 %chunk, %chunks
  %go = and i1 %is_same, %is_left
  br i1 %go, label %swap, label %out
swap:                        ; success proves that the fields read above are this generation's
  %next = add i64 %ticket, 1
  %swapped = cmpxchg ptr %pool, i64 %ticket, i64 %next acq_rel monotonic
  %is_taken = extractvalue {{i64, i1}} %swapped, 1
  br i1 %is_taken, label %run, label %grab
run:
  %offset = mul i64 %chunk, %grain
  %lo = add i64 %begin, %offset
  %end = add i64 %lo, %grain
  %hi = call i64 @llvm.smin.i64(i64 %end, i64 %total)
  call void %kernel(ptr %args, i64 %lo, i64 %hi)
  %before = atomicrmw add ptr %p_done, i64 1 seq_cst
  %done = add i64 %before, 1
  %goal = load atomic i64, ptr %p_chunks seq_cst, align 8
  %is_last = icmp eq i64 %done, %goal
  br i1 %is_last, label %finish, label %look
finish:
  call void @wake(ptr %p_caller_parked, ptr %p_caller_lock)
  br label %out
look:
  br i1 %timed, label %clock, label %grab
clock:
  %now = call i64 @clock_ms()
  %is_over = icmp sge i64 %now, %deadline
  br i1 %is_over, label %out, label %grab
out:
  ret void
}}"""

# A worker spins for a new generation, then parks; it leaves when the pool closes.
_WORKER = f"""
define void @worker(ptr %me) {{
entry:
  %p_lock = getelementptr i8, ptr %me, i64 {WORKER_FIELDS["lock"]}
  %p_pool = getelementptr i8, ptr %me, i64 {WORKER_FIELDS["pool"]}
  %lock = load ptr, ptr %p_lock, align 8
  %pool = load ptr, ptr %p_pool, align 8
{pool_pointers("spin", "closing")}
  %my_address = ptrtoint ptr %me to i64
  %pool_address = ptrtoint ptr %pool to i64
  %distance = sub i64 %my_address, %pool_address
  %my_offset = sub i64 %distance, {WORKERS_OFFSET}
  %my_index = udiv i64 %my_offset, {WORKER_BYTES}
  br label %outer
outer:
  %seen = phi i64 [-1, %entry], [%generation, %work], [%seen, %sleep]
  %spin = load atomic i64, ptr %p_spin monotonic, align 8
  br label %look
look:
  %round = phi i64 [0, %outer], [%next_round, %idle]
  %ticket = load atomic i64, ptr %pool acquire, align 8
  %new = lshr i64 %ticket, 32
  %is_new = icmp ne i64 %new, %seen
  br i1 %is_new, label %work, label %check
check:
  %closing = load atomic i64, ptr %p_closing monotonic, align 8
  %is_closing = icmp ne i64 %closing, 0
  br i1 %is_closing, label %out, label %idle
idle:
  call void @pause()
  %next_round = add i64 %round, 1
  %is_patient = icmp slt i64 %next_round, %spin
  br i1 %is_patient, label %look, label %park
park:                        ; announce, look again, then sleep: no wake-up is lost
  store atomic i32 1, ptr %me seq_cst, align 4
  %ticket_again = load atomic i64, ptr %pool seq_cst, align 8
  %new_again = lshr i64 %ticket_again, 32
  %is_new_again = icmp ne i64 %new_again, %seen
  %closing_again = load atomic i64, ptr %p_closing seq_cst, align 8
  %is_closing_again = icmp ne i64 %closing_again, 0
  %stay = or i1 %is_new_again, %is_closing_again
  br i1 %stay, label %undo, label %sleep
undo:
  %announced = atomicrmw xchg ptr %me, i32 0 seq_cst
  %is_unclaimed = icmp eq i32 %announced, 1
  br i1 %is_unclaimed, label %work, label %sleep
sleep:
  %acquired = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  br label %outer
work:
  %generation = phi i64 [%new, %look], [%new_again, %undo]
  call void @wake_next(ptr %pool, i64 %my_index)
  call void @take_chunks(ptr %pool, i64 %generation, i64 -1)
  br label %outer
out:
  ret void
}}"""

# The same chunks on the calling thread alone: no worker, or another thread has the pool.
_SERIAL = """
define internal i64 @serial_for(ptr %kernel, ptr %args, i64 %begin, i64 %total, i64 %grain,
                                i64 %deadline) {
entry:
  br label %each
each:
  %lo = phi i64 [%begin, %entry], [%hi, %clock]
  %end = add i64 %lo, %grain
  %hi = call i64 @llvm.smin.i64(i64 %end, i64 %total)
  call void %kernel(ptr %args, i64 %lo, i64 %hi)
  %more = icmp slt i64 %hi, %total
  br i1 %more, label %clock, label %out
clock:
  %now = call i64 @clock_ms()
  %is_over = icmp sge i64 %now, %deadline
  br i1 %is_over, label %out, label %each
out:
  ret i64 %hi
}"""

# Spin, then sleep, until the chunks that were taken are done.
_AWAIT_DONE = f"""
define internal void @await_done(ptr %pool, i64 %taken) {{
entry:
{pool_pointers("done", "spin", "caller_parked", "caller_lock")}
  %spin = load i64, ptr %p_spin, align 8
  br label %look
look:
  %round = phi i64 [0, %entry], [%next_round, %idle], [0, %sleep]
  %done = load atomic i64, ptr %p_done acquire, align 8
  %is_done = icmp eq i64 %done, %taken
  br i1 %is_done, label %out, label %idle
idle:
  call void @pause()
  %next_round = add i64 %round, 1
  %is_patient = icmp slt i64 %next_round, %spin
  br i1 %is_patient, label %look, label %park
park:
  store atomic i32 1, ptr %p_caller_parked seq_cst, align 4
  %done_again = load atomic i64, ptr %p_done seq_cst, align 8
  %is_done_again = icmp eq i64 %done_again, %taken
  br i1 %is_done_again, label %undo, label %sleep
undo:
  %announced = atomicrmw xchg ptr %p_caller_parked, i32 0 seq_cst
  %is_unclaimed = icmp eq i32 %announced, 1
  br i1 %is_unclaimed, label %out, label %sleep
sleep:
  %lock = load ptr, ptr %p_caller_lock, align 8
  %acquired = call i32 @PyThread_acquire_lock(ptr %lock, i32 1)
  br label %look
out:
  ret void
}}"""

_PARALLEL_FOR = f"""
define i64 @parallel_for(ptr %pool, ptr %kernel, ptr %args, i64 %begin, i64 %total,
                         i64 %grain) {{
entry:
{pool_pointers("chunks", "kernel", "args", "begin", "total", "grain", "done")}
{pool_pointers("busy", "workers", "slice_ms")}
  %size = sub i64 %total, %begin
  %is_empty = icmp sle i64 %size, 0
  br i1 %is_empty, label %nothing, label %count
nothing:
  ret i64 %total
count:
  %rounded = add i64 %size, %grain
  %less = sub i64 %rounded, 1
  %all = udiv i64 %less, %grain
  %is_single = icmp eq i64 %all, 1
  br i1 %is_single, label %single, label %several
single:
  call void %kernel(ptr %args, i64 %begin, i64 %total)
  ret i64 %total
several:
  %chunks = call i64 @llvm.umin.i64(i64 %all, i64 {MAX_CHUNKS})
  %start = call i64 @clock_ms()
  %slice = load i64, ptr %p_slice_ms, align 8
  %deadline = add i64 %start, %slice
  %workers = load i64, ptr %p_workers, align 8
  %is_alone = icmp eq i64 %workers, 0
  br i1 %is_alone, label %serial, label %claim
claim:                       ; a second Python thread that calls meanwhile runs serially
  %claimed = cmpxchg ptr %p_busy, i64 0, i64 1 acquire monotonic
  %is_ours = extractvalue {{i64, i1}} %claimed, 1
  br i1 %is_ours, label %prepare, label %serial
serial:
  %stopped = call i64 @serial_for(ptr %kernel, ptr %args, i64 %begin, i64 %total, i64 %grain,
                                  i64 %deadline)
  ret i64 %stopped
prepare:                     ; the ticket is closed
  store atomic i64 %chunks, ptr %p_chunks monotonic, align 8
  store atomic ptr %kernel, ptr %p_kernel monotonic, align 8
  store atomic ptr %args, ptr %p_args monotonic, align 8
  store atomic i64 %begin, ptr %p_begin monotonic, align 8
  store atomic i64 %total, ptr %p_total monotonic, align 8
  store atomic i64 %grain, ptr %p_grain monotonic, align 8
  store atomic i64 0, ptr %p_done monotonic, align 8
  %ticket = load atomic i64, ptr %pool monotonic, align 8
  %closed = lshr i64 %ticket, 32
  %generation = add i64 %closed, 1
  %opened = shl i64 %generation, 32
  %opened_generation = lshr i64 %opened, 32
  store atomic i64 %opened, ptr %pool seq_cst, align 8
  call void @wake_next(ptr %pool, i64 -1)
  call void @take_chunks(ptr %pool, i64 %opened_generation, i64 %deadline)
  %next_generation = add i64 %opened_generation, 1
  %next_opened = shl i64 %next_generation, 32
  %next_closed = or i64 %next_opened, {CLOSED_TICKET}
  %last = atomicrmw xchg ptr %pool, i64 %next_closed seq_cst
  fence seq_cst
  %position = and i64 %last, {CLOSED_TICKET}
  %taken = call i64 @llvm.umin.i64(i64 %position, i64 %chunks)
  store atomic i64 %taken, ptr %p_chunks seq_cst, align 8
  call void @await_done(ptr %pool, i64 %taken)
  store atomic i64 0, ptr %p_busy release, align 8
  %covered = mul i64 %taken, %grain
  %reached = add i64 %begin, %covered
  %stop = call i64 @llvm.smin.i64(i64 %reached, i64 %total)
  ret i64 %stop
}}"""

# Let the workers leave, once each has finished the chunk it is at.
_STOP = f"""
define void @stop(ptr %pool) {{
entry:
{pool_pointers("closing")}
  store atomic i64 1, ptr %p_closing seq_cst, align 8
  call void @wake_workers(ptr %pool, i64 0, i64 {MAX_CHUNKS})
  ret void
}}"""
