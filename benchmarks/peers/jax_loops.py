"""Recurrences of many elements at once as users of JAX write them: ``fori_loop`` and ``scan``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np


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

        def step(_: int, state: Any) -> Any:
            price, key = state
            key, own = jax.random.split(key)
            z = jax.random.normal(own, price.shape, jnp.float32)
            return price * jnp.exp(drift + scale * z), key

        return lax.fori_loop(0, steps, step, (price, key))[0]

    @jax.jit
    def smoothed(x: Any) -> Any:
        def step(y: Any, column: Any) -> Any:
            y = jnp.float32(0.98) * y + jnp.float32(0.02) * column
            return y, y

        return lax.scan(step, jnp.zeros(x.shape[0], x.dtype), x.T)[1].T

    @jax.jit
    def waves(x: Any, steps: int) -> Any:
        return lax.fori_loop(0, steps, lambda _, x: x + 0.01 * jnp.sin(x), x)

    @jax.jit
    def swinging(angle: Any, speed: Any, steps: int) -> Any:
        def step(_: int, state: Any) -> Any:
            angle, speed = state
            speed = speed - 0.01 * jnp.sin(angle)
            return angle + 0.01 * speed, speed

        return lax.fori_loop(0, steps, step, (angle, speed))

    @jax.jit
    def maps(x: Any, rate: Any, steps: int) -> Any:
        return lax.fori_loop(0, steps, lambda _, x: rate * x * (1.0 - x), x)

    @jax.jit
    def filters(w: Any, inputs: Any, steps: int) -> Any:
        def step(t: int, w: Any) -> Any:
            x = inputs[t]
            power = (x * x).sum(axis=0)
            error = power - (x * w).sum(axis=0)
            return w + jnp.float32(0.5) * x * (error / (power + jnp.float32(1e-3)))

        return lax.fori_loop(0, steps, step, w)

    @partial(jax.jit, static_argnums=2)
    def filtered(y: Any, key: Any, steps: int) -> Any:
        def step(_: int, state: Any) -> Any:
            y, key = state
            key, own = jax.random.split(key)
            noise = jax.random.uniform(own, y.shape, jnp.float32)
            return jnp.float32(0.98) * y + jnp.float32(0.02) * noise, key

        return lax.fori_loop(0, steps, step, (y, key))[0]

    @partial(jax.jit, static_argnums=2)
    def filters_drawn(w: Any, key: Any, steps: int) -> Any:
        def step(_: int, state: Any) -> Any:
            w, key = state
            key, own = jax.random.split(key)
            x = jax.random.uniform(own, w.shape, jnp.float32)
            power = (x * x).sum(axis=0)
            error = power - (x * w).sum(axis=0)
            return w + jnp.float32(0.5) * x * (error / (power + jnp.float32(1e-3))), key

        return lax.fori_loop(0, steps, step, (w, key))[0]

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


def loops_of_devices() -> dict[str, Callable[..., Any]]:
    """Return the programs of ``gpu_loops`` as users of JAX write them."""
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
        return lax.fori_loop(0, steps, turn, start)[2].mean(axis=1)

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

    return {
        "heat": diffused,
        "wave": waved,
        "escapes": escaped,
        "power_method": powered,
        "orbits": orbiting,
    }
