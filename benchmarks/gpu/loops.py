"""`python -m benchmarks.gpu.loops`: recurrences on one GPU beside JAX's `fori_loop` and `scan`.

Arrays lie on the device before and after; everything else is as users have it by default. The
answer is compared with plain NumPy's first. A call is timed with a wait at its end, in turns with
the peer, after the device has been kept busy.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.gpu.implementations import describe_device, is_software
from benchmarks.peers import jax_loops
from benchmarks.programs import lane_loops

Array = np.ndarray
ROUNDS = 5
WARM_S = 0.3


class WrongAnswerError(Exception):
    """A program's result is not NumPy's."""


# -- programs --------------------------------------------------------------------------------------
def heat(u: Array, steps: int) -> Array:
    """Diffusion on a square."""
    for _ in range(steps):
        inner = u[1:-1, 1:-1]
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner
        u[1:-1, 1:-1] = inner + np.float32(0.2) * lap
    return u


def wave(u: Array, before: Array, steps: int) -> Array:
    """The wave equation on a torus."""
    for _ in range(steps):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        u, before = 2 * u - before + np.float32(0.1) * (around - 4 * u), u
    return u


def escapes(re: Array, im: Array, steps: int) -> Array:
    """Turns after which points of the plane escape."""
    x, y = np.zeros_like(re), np.zeros_like(im)
    count = np.zeros(re.shape, np.int32)
    for _ in range(steps):
        inside = x * x + y * y < 4
        x, y = np.where(inside, x * x - y * y + re, x), np.where(inside, 2 * x * y + im, y)
        count = count + inside
    return count


def power_method(a: Array, x: Array, steps: int) -> Array:
    """The largest eigenvector of a matrix."""
    for _ in range(steps):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x


def orbits(x: Array, v: Array, steps: int) -> Array:
    """Points in the field of a mass, by leapfrog."""
    for _ in range(steps):
        r2 = (x * x).sum(axis=0) + np.float32(0.01)
        v = v - np.float32(0.01) * x / (r2 * np.sqrt(r2))
        x = x + np.float32(0.01) * v
    return x


def by_jax() -> dict[str, Callable[..., Any]]:
    """The programs as users of JAX write them; none where it is not installed."""
    found = jax_loops.by_jax()
    if not found:
        return found
    import jax  # noqa: PLC0415  (a peer)
    from jax import lax  # noqa: PLC0415  (a peer)
    from jax import numpy as jnp  # noqa: PLC0415  (a peer)

    @jax.jit
    def diffused(u: Any, steps: int) -> Any:
        def turn(_: int, u: Any) -> Any:
            inner = u[1:-1, 1:-1]
            lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * inner
            return u.at[1:-1, 1:-1].set(inner + jnp.float32(0.2) * lap)

        return lax.fori_loop(0, steps, turn, u)

    @jax.jit
    def waved(u: Any, before: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            u, before = state
            around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
            return 2 * u - before + jnp.float32(0.1) * (around - 4 * u), u

        return lax.fori_loop(0, steps, turn, (u, before))[0]

    @jax.jit
    def escaped(re: Any, im: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            x, y, count = state
            inside = x * x + y * y < 4
            nx = jnp.where(inside, x * x - y * y + re, x)
            return nx, jnp.where(inside, 2 * x * y + im, y), count + inside

        start = jnp.zeros_like(re), jnp.zeros_like(im), jnp.zeros(re.shape, jnp.int32)
        return lax.fori_loop(0, steps, turn, start)[2]

    @jax.jit
    def powered(a: Any, x: Any, steps: int) -> Any:
        def turn(_: int, x: Any) -> Any:
            y = jnp.matmul(a, x, precision="highest")
            return y / jnp.sqrt((y * y).sum())

        return lax.fori_loop(0, steps, turn, x)

    @jax.jit
    def orbiting(x: Any, v: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            x, v = state
            r2 = (x * x).sum(axis=0) + jnp.float32(0.01)
            v = v - jnp.float32(0.01) * x / (r2 * jnp.sqrt(r2))
            return x + jnp.float32(0.01) * v, v

        return lax.fori_loop(0, steps, turn, (x, v))[0]

    own = {"heat": diffused, "wave": waved, "escapes": escaped}
    return found | own | {"power_method": powered, "orbits": orbiting}


# -- measuring -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Program:
    """A program, its arrays by an extent, its extents and turns, and those of a test."""

    fn: Callable[..., Any]
    make: Callable[[int, int], tuple[Array, ...]]  # of extent and turns
    sizes: tuple[tuple[int, int], ...]
    quick: tuple[int, int]
    rtol: float = 1e-4
    draws: bool = False


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def _uniform(*shape: int) -> Array:
    return np.random.default_rng(1).random(shape, dtype=np.float32)


PROGRAMS = (
    Program(
        lane_loops.paths_of_prices,
        lambda n, _: (np.full(n, 100, np.float32),),
        ((1 << 20, 256), (1 << 14, 256)),
        (1000, 20),
        draws=True,
    ),
    Program(
        lane_loops.filtered_noise,
        lambda n, _: (_zeros(n),),
        ((1 << 20, 1536), (1 << 14, 256)),
        (1000, 20),
        draws=True,
    ),
    Program(
        lane_loops.filters_of_noise,
        lambda n, _: (_zeros(128, n),),
        ((4096, 200), (256, 200)),
        (96, 12),
        draws=True,
    ),
    Program(
        lane_loops.adaptive_filters,
        lambda n, t: (_zeros(128, n), _uniform(t, 128, n)),
        ((4096, 200), (256, 200)),
        (96, 12),
    ),
    Program(
        lane_loops.filter_of_channels,
        lambda n, t: (_uniform(n, t),),
        ((1 << 17, 512),),
        (500, 30),
    ),
    Program(
        lane_loops.sines, lambda n, _: (_uniform(n),), ((1 << 20, 100), (1 << 14, 1000)), (500, 20)
    ),
    Program(
        lane_loops.pendulums,
        lambda n, _: (_uniform(n), _uniform(n)),
        ((1 << 20, 100), (1 << 14, 1000)),
        (500, 20),
    ),
    Program(escapes, lambda n, _: _plane(n), ((1024, 200), (128, 200)), (32, 20), rtol=2e-2),
    Program(heat, lambda n, _: (_uniform(n, n),), ((4096, 100), (1024, 200), (128, 200)), (48, 10)),
    Program(
        wave,
        lambda n, _: (_uniform(n, n), _uniform(n, n)),
        ((2048, 100), (256, 200)),
        (48, 10),
        rtol=1e-3,
    ),
    Program(
        power_method, lambda n, _: (_uniform(n, n), _uniform(n)), ((4096, 50), (512, 50)), (64, 5)
    ),
    Program(
        orbits,
        lambda n, _: (_uniform(3, n) + 1, _uniform(3, n) - np.float32(0.5)),
        ((1 << 20, 100), (1 << 12, 100)),
        (500, 10),
        rtol=1e-3,
    ),
)


def _plane(n: int) -> tuple[Array, ...]:
    axis = np.linspace(-2, 2, n, dtype=np.float32)
    re, im = np.meshgrid(axis, axis)
    return np.ascontiguousarray(re), np.ascontiguousarray(im)


def compare(program: Program, extents: tuple[int, int], peer: Callable[..., Any] | None) -> float:
    """The peer's time as a multiple of ours; not a number where there is none.

    Raises:
        WrongAnswerError: our result is not NumPy's.

    """
    extent, steps = extents
    host = program.make(extent, steps)
    rest: tuple[Any, ...] = () if program.fn is lane_loops.filter_of_channels else (steps,)
    fast = runmat.jit(program.fn, device="gpu")
    rng = runmat.random.default_rng(7)
    ours = tuple(runmat.asarray(each, device="gpu") for each in host)

    def run() -> Any:
        drawn = (rng,) if program.draws else ()
        return fast(*ours, *drawn, *rest)

    if sum(each.size for each in host) * steps <= 1 << 28:
        check(program, host, rest)
    for _ in range(3):
        result = run()
    first = result[0] if isinstance(result, tuple) else result
    where = "gpu" if isinstance(first, runmat.Array) else "cpu"
    seconds: list[list[float]] = [[]]
    sides: list[tuple[Callable[[], Any], Callable[[Any], None]]] = [
        (run, lambda _: runmat.synchronize())
    ]
    if peer is not None:
        import jax  # noqa: PLC0415  (a peer)

        theirs = tuple(jax.device_put(each) for each in host)
        drawn = (None,) if program.draws else ()
        seconds.append([])
        sides.append((lambda: peer(*theirs, *drawn, *rest), jax.block_until_ready))
    for _ in range(ROUNDS):
        for (call, wait), found in zip(sides, seconds, strict=True):
            found.append(timed(call, wait))
    ratio = math.nan
    if peer is not None:
        ratio = median(t / o for o, t in zip(*seconds, strict=True))
    size = f"{extent} x {steps}"
    told = "" if math.isnan(ratio) else f"{ratio:8.2f}"
    print(f"  {program.fn.__name__:20}{size:>16}{1e3 * median(seconds[0]):10.3f}{told}  {where}")
    sys.stdout.flush()
    return ratio


def check(program: Program, host: tuple[Array, ...], rest: tuple[Any, ...]) -> None:
    """Compare a result with that of plain NumPy on the same numbers, draws included."""
    drawn = [runmat.random.default_rng(3) if program.draws else None for _ in range(2)]
    given = [() if rng is None else (rng,) for rng in drawn]
    arrays = tuple(runmat.asarray(each, device="gpu") for each in host)
    found = runmat.jit(program.fn, device="gpu")(*arrays, *given[0], *rest)
    wanted = program.fn(*(each.copy() for each in host), *given[1], *rest)
    pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
    for ours, right in pairs:
        error = np.abs(np.asarray(ours).astype(np.float64) - right)
        typical = float(np.mean(error)) if program.fn is escapes else float(np.max(error))
        if not typical <= program.rtol * max(float(np.abs(right).max()), 1e-3):
            raise WrongAnswerError(f"{program.fn.__name__}: {typical} off")


def timed(call: Callable[[], Any], wait: Callable[[Any], None]) -> float:
    """Seconds of a call that is waited for, when the device is warm."""
    begin = time.perf_counter()
    count = 0
    while time.perf_counter() - begin < WARM_S or not count:
        wait(call())
        count += 1
    times = []
    for _ in range(max(3, min(50, count))):
        begin = time.perf_counter()
        wait(call())
        times.append(time.perf_counter() - begin)
    return median(times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.loops", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small arrays, any adapter: a test")
    parser.add_argument("--only", default="", help="names of programs, with commas")
    options = parser.parse_args(arguments)
    if is_software() and not options.quick:
        print("the adapter is no GPU; use --quick for a smoke run", file=sys.stderr)
        return 1
    print(*(f"{name}: {value}" for name, value in describe_device().items()), sep="\n")
    wanted = [name for name in options.only.split(",") if name]
    peers = {} if options.quick or not importlib.util.find_spec("jax") else by_jax()
    print("milliseconds of a call until done, JAX's as a multiple of ours")
    ratios = []
    for program in PROGRAMS:
        name = program.fn.__name__
        if wanted and name not in wanted:
            continue
        sizes = (program.quick,) if options.quick else program.sizes
        ratios += [compare(program, extents, peers.get(name)) for extents in sizes]
    known = [ratio for ratio in ratios if not math.isnan(ratio)]
    if known:
        mean = math.exp(sum(map(math.log, known)) / len(known))
        print(f"geometric mean {mean:.2f}, the worst {min(known):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
