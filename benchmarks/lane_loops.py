"""Loops over large arrays, element by element: ``python -m benchmarks.lane_loops``, a minute.

Recurrences of many elements at once, as plain NumPy, decorated, and by JAX's ``fori_loop`` or
``scan`` where it is installed. Results are compared first; rounds alternate.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import runmat_jit as runmat
from benchmarks.ratios import Ratio, ratio_of_rounds

Array = np.ndarray
Made = Callable[..., tuple[Any, ...]]


# -- programs --------------------------------------------------------------------------------------
def paths_of_prices(price: Array, rng: Any, steps: int) -> Array:
    """Geometric Brownian motion."""
    drift, scale = np.float32((0.05 - 0.02) / 252), np.float32(0.2 / np.sqrt(252))
    for _ in range(steps):
        z = rng.standard_normal(len(price), dtype=np.float32)
        price = price * np.exp(drift + scale * z)
    return price


def filter_of_channels(x: Array) -> Array:
    """A smoothing filter along the rows of a matrix, of all rows at once."""
    y = np.zeros(x.shape[0], x.dtype)
    out = np.empty_like(x)
    for t in range(x.shape[1]):
        y = np.float32(0.98) * y + np.float32(0.02) * x[:, t]
        out[:, t] = y
    return out


def sines(x: Array, steps: int) -> Array:
    """A step of Euler's for each turn."""
    for _ in range(steps):
        x = x + 0.01 * np.sin(x)
    return x


def pendulums(angle: Array, speed: Array, steps: int) -> tuple[Array, Array]:
    """Many pendulums, by a symplectic method."""
    for _ in range(steps):
        speed = speed - 0.01 * np.sin(angle)
        angle = angle + 0.01 * speed
    return angle, speed


def logistic_maps(x: Array, rate: Array, steps: int) -> Array:
    """As many maps as rates."""
    for _ in range(steps):
        x = rate * x * (1.0 - x)
    return x


def adaptive_filters(w: Array, inputs: Array, steps: int) -> Array:
    """Normalized least mean squares, a filter for each column."""
    for t in range(steps):
        x = inputs[t]
        power = (x * x).sum(axis=0)
        error = power - (x * w).sum(axis=0)
        w = w + np.float32(0.5) * x * (error / (power + np.float32(1e-3)))
    return w


def filtered_noise(y: Array, rng: Any, steps: int) -> Array:
    """The same filter of numbers that are drawn, of which the last result counts."""
    for _ in range(steps):
        y = np.float32(0.98) * y + np.float32(0.02) * rng.random(len(y), dtype=np.float32)
    return y


def filters_of_noise(w: Array, rng: Any, steps: int) -> Array:
    """Adaptive filters of numbers that are drawn."""
    for _ in range(steps):
        x = rng.random(w.shape, dtype=np.float32)
        power = (x * x).sum(axis=0)
        error = power - (x * w).sum(axis=0)
        w = w + np.float32(0.5) * x * (error / (power + np.float32(1e-3)))
    return w


# -- by JAX ----------------------------------------------------------------------------------------
def by_jax() -> dict[str, Callable[..., Any]]:  # noqa: C901  (one small function a program)
    """The programs as users of JAX write them; none where it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return {}
    import jax  # noqa: PLC0415  (a peer)
    from jax import lax  # noqa: PLC0415  (a peer)
    from jax import numpy as jnp  # noqa: PLC0415  (a peer)

    jax.config.update("jax_enable_x64", val=True)  # NumPy's dtypes

    @partial(jax.jit, static_argnums=2)
    def paths(price: Any, key: Any, steps: int) -> Any:
        drift, scale = jnp.float32((0.05 - 0.02) / 252), jnp.float32(0.2 / np.sqrt(252))

        def turn(_: int, state: Any) -> Any:
            price, key = state
            key, own = jax.random.split(key)
            z = jax.random.normal(own, price.shape, jnp.float32)
            return price * jnp.exp(drift + scale * z), key

        return lax.fori_loop(0, steps, turn, (price, key))[0]

    @jax.jit
    def smoothed(x: Any) -> Any:
        def turn(y: Any, column: Any) -> Any:
            y = jnp.float32(0.98) * y + jnp.float32(0.02) * column
            return y, y

        return lax.scan(turn, jnp.zeros(x.shape[0], x.dtype), x.T)[1].T

    @jax.jit
    def waves(x: Any, steps: int) -> Any:
        return lax.fori_loop(0, steps, lambda _, x: x + 0.01 * jnp.sin(x), x)

    @jax.jit
    def swinging(angle: Any, speed: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            angle, speed = state
            speed = speed - 0.01 * jnp.sin(angle)
            return angle + 0.01 * speed, speed

        return lax.fori_loop(0, steps, turn, (angle, speed))

    @jax.jit
    def maps(x: Any, rate: Any, steps: int) -> Any:
        return lax.fori_loop(0, steps, lambda _, x: rate * x * (1.0 - x), x)

    @jax.jit
    def filters(w: Any, inputs: Any, steps: int) -> Any:
        def turn(t: int, w: Any) -> Any:
            x = inputs[t]
            power = (x * x).sum(axis=0)
            error = power - (x * w).sum(axis=0)
            return w + jnp.float32(0.5) * x * (error / (power + jnp.float32(1e-3)))

        return lax.fori_loop(0, steps, turn, w)

    @partial(jax.jit, static_argnums=2)
    def filtered(y: Any, key: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            y, key = state
            key, own = jax.random.split(key)
            noise = jax.random.uniform(own, y.shape, jnp.float32)
            return jnp.float32(0.98) * y + jnp.float32(0.02) * noise, key

        return lax.fori_loop(0, steps, turn, (y, key))[0]

    @partial(jax.jit, static_argnums=2)
    def filters_drawn(w: Any, key: Any, steps: int) -> Any:
        def turn(_: int, state: Any) -> Any:
            w, key = state
            key, own = jax.random.split(key)
            x = jax.random.uniform(own, w.shape, jnp.float32)
            power = (x * x).sum(axis=0)
            error = power - (x * w).sum(axis=0)
            return w + jnp.float32(0.5) * x * (error / (power + jnp.float32(1e-3))), key

        return lax.fori_loop(0, steps, turn, (w, key))[0]

    def drawing(fn: Callable[..., Any]) -> Callable[..., Any]:
        return lambda start, _rng, steps: fn(start, jax.random.key(7), steps)

    return {
        "paths_of_prices": drawing(paths),
        "filtered_noise": drawing(filtered),
        "filters_of_noise": drawing(filters_drawn),
        "filter_of_channels": smoothed,
        "sines": waves,
        "pendulums": swinging,
        "logistic_maps": maps,
        "adaptive_filters": filters,
    }


# -- measuring -------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Program:
    """A program, its inputs by extents, the extents that are measured, and those of a test."""

    fn: Callable[..., Any]
    inputs: Made
    sizes: tuple[tuple[int, int], ...]
    quick: tuple[int, int]
    draws: bool = False


def _drawing(elements: int, steps: int, make: Any = runmat.random.default_rng) -> tuple[Any, ...]:
    return np.full(elements, 100, np.float32), make(7), steps


def _zeros(elements: int, steps: int, make: Any = runmat.random.default_rng) -> tuple[Any, ...]:
    return np.zeros(elements, np.float32), make(7), steps


def _taps(elements: int, steps: int, make: Any = runmat.random.default_rng) -> tuple[Any, ...]:
    return np.zeros((128, elements), np.float32), make(7), steps


def _uniform(*shape: int, dtype: Any = np.float64) -> Array:
    return np.random.default_rng(1).random(shape).astype(dtype)


def _filters(elements: int, steps: int) -> tuple[Any, ...]:
    taps = 128
    inputs = _uniform(steps, taps, elements, dtype=np.float32)
    return np.zeros((taps, elements), np.float32), inputs, steps


PROGRAMS = (
    Program(paths_of_prices, _drawing, ((250_000, 256), (20_000, 256)), (1000, 20), draws=True),
    Program(filtered_noise, _zeros, ((131_072, 512), (2048, 512)), (1000, 20), draws=True),
    Program(filters_of_noise, _taps, ((2048, 200), (512, 200)), (300, 20), draws=True),
    Program(
        filter_of_channels,
        lambda n, t: (_uniform(n, t, dtype=np.float32),),
        ((131_072, 512), (2048, 512)),
        (200, 50),
    ),
    Program(sines, lambda n, t: (_uniform(n), t), ((1_000_000, 100), (20_000, 1000)), (1000, 20)),
    Program(
        pendulums,
        lambda n, t: (_uniform(n), _uniform(n), t),
        ((1_000_000, 100), (20_000, 1000)),
        (1000, 20),
    ),
    Program(
        logistic_maps,
        lambda n, t: (_uniform(n), 3 + _uniform(n), t),
        ((1_000_000, 100), (20_000, 1000)),
        (1000, 20),
    ),
    Program(adaptive_filters, _filters, ((2048, 200), (512, 200)), (64, 10)),
)


def seconds(way: Callable[..., Any], inputs: tuple[Any, ...]) -> tuple[float, Any]:
    """Of a call, and its result, which is waited for."""
    begin = perf_counter()
    result = way(*inputs)
    for each in result if isinstance(result, tuple) else (result,):
        np.asarray(each)
    return perf_counter() - begin, result


def require_close(found: Any, expected: Any, name: str) -> None:
    """Refuse to time what gives something else than the undecorated program.

    Raises:
        AssertionError: it does.

    """
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for ours, theirs in pairs:
        limit = 1e-3 if theirs.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(np.asarray(ours), theirs, rtol=limit, atol=limit, err_msg=name)


def measure(program: Program, extents: tuple[int, int], peer: Any, rounds: int) -> str:
    """Our time, and how many times longer NumPy and JAX take."""
    fn, decorated = program.fn, runmat.jit(program.fn)
    inputs = program.inputs(*extents)
    chaotic = fn is logistic_maps
    for _ in range(3):
        found = seconds(decorated, program.inputs(*extents))[1]
    # of NumPy's own generator the numbers are others: parity is that of the same one, undecorated
    expected = fn(*program.inputs(*extents))
    require_close(found, expected, fn.__name__)
    if peer is not None:
        theirs = seconds(peer, inputs)[1]
        if program.draws:
            np.testing.assert_allclose(np.mean(theirs), np.mean(expected), rtol=0.05)
        elif not chaotic:  # other roundings grow
            require_close(theirs, expected, f"{fn.__name__} by JAX")
    ours, numpys, peers = [], [], []
    for _ in range(rounds):
        inputs = program.inputs(*extents)
        ours.append(seconds(decorated, inputs)[0])
        plain = program.inputs(*extents, np.random.default_rng) if program.draws else inputs
        numpys.append(seconds(fn, plain)[0])
        if peer is not None:
            peers.append(seconds(peer, inputs)[0])
    ratios: list[Ratio | str] = [ratio_of_rounds(numpys, ours)]
    ratios.append(ratio_of_rounds(peers, ours) if peers else "-")
    return f"{1e3 * min(ours):>10.2f}  {ratios[0]!s:>22}  {ratios[1]!s:>22}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lane_loops", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: a test, not a figure")
    parser.add_argument("--only", default="", help="names of programs, with commas")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    wanted = [name for name in options.only.split(",") if name]
    peers = {} if options.quick else by_jax()
    columns = f"{'NumPy / ours':>22}  {'JAX / ours':>22}"
    print(f"{'':<20}{'elements x turns':>18}{'ours, ms':>10}  {columns}")
    for program in PROGRAMS:
        name = program.fn.__name__
        if wanted and name not in wanted:
            continue
        for extents in (program.quick,) if options.quick else program.sizes:
            row = measure(program, extents, peers.get(name), options.rounds)
            shown = " x ".join(map(str, extents))
            print(f"{name:<20}{shown:>18}{row}", flush=True)


if __name__ == "__main__":
    main()
