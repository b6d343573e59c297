"""`jax.jit`; arrays are put on the device once, results stay there and are waited for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.cases.case import Arrays, Case
from benchmarks.peers.peer import Implementation, select


def elementwise(x):
    y0 = jnp.sin(x) * jnp.exp(-x / 10)
    y1 = y0 * jnp.cos(x / 4) + 0.25 * y0**2
    return jnp.tanh(y1) + 0.1 * y1


def image_4k(x):
    mean = jnp.mean(x, axis=(1, 2), keepdims=True)
    sigma = jnp.sqrt(jnp.mean((x - mean) ** 2, axis=(1, 2), keepdims=True) + 1e-6)
    out = jnp.maximum((x - mean) / sigma * 1.0123 - 0.02, 0.0) ** 1.8
    return out, jnp.mean((out - x) ** 2)


FUNCTIONS = {"elementwise": elementwise, "image_4k": image_4k}


def prepare(inputs: Arrays) -> tuple[jax.Array, ...]:
    return tuple(map(jnp.asarray, inputs))


def to_numpy(result):
    return jax.tree.map(np.asarray, result)


def implement(case: Case) -> Implementation:
    compiled = jax.jit(select("jax", FUNCTIONS, case.name))
    return Implementation(
        peer="jax",
        versions={"jax": jax.__version__},
        threads=0,  # XLA's own pool: it has no documented count to read
        run=lambda *inputs: jax.block_until_ready(compiled(*inputs)),
        prepare=prepare,
        to_numpy=to_numpy,
        note="device arrays in and out",
    )
