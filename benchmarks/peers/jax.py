"""`jax.jit` of the same source with `jax.numpy`; arrays are put on the device once.

Results stay there and are waited for. Integers are static. What assigns to elements has no version.
"""

from __future__ import annotations

import inspect
import types

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.peers.jax_loops import by_jax, loops_of_devices
from benchmarks.peers.peer import Implementation, PeerUnavailableError
from benchmarks.program import Arguments, Program

GROUPS = ("six", "named")
BY_HAND = (
    *("lane_loops.filter_of_channels", "lane_loops.sines", "lane_loops.pendulums"),
    *("lane_loops.logistic_maps", "lane_loops.adaptive_filters"),
)
ASSIGNING = ("named.heat_equation", "named.k_means", "named.mandelbrot", "named.kalman_filter")


def with_jax(function, known):
    """Return a function whose module has ``jax.numpy`` in place of ``numpy``."""
    if function in known:
        return known[function]
    namespace = {**function.__globals__, "np": jnp}
    known[function] = made = types.FunctionType(function.__code__, namespace, function.__name__)
    for name in function.__code__.co_names:
        inner = namespace.get(name)
        if isinstance(inner, types.FunctionType) and inner.__module__ == function.__module__:
            namespace[name] = with_jax(inner, known)
    return made


def to_device(value):
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def implement(name: str, program: Program) -> Implementation:
    if name.partition(".")[0] == "gpu_loops":
        return implementation(loops_of_devices()[program.name], note="fori_loop, by hand")
    if name in BY_HAND:
        return implementation(by_jax()[program.name], note="fori_loop or scan, by hand")
    if name.partition(".")[0] not in GROUPS or name in ASSIGNING:
        raise PeerUnavailableError(f"jax: {name} assigns to elements, which JAX does not take")
    jax.config.update("jax_enable_x64", True)
    static = [
        number
        for number, value in enumerate(program.arguments(program.small, 0))
        if isinstance(value, int)
    ]
    assert len(inspect.signature(program.fn).parameters) > len(static)
    return implementation(jax.jit(with_jax(program.fn, {}), static_argnums=static))


def implementation(compiled, note: str = "the same source") -> Implementation:
    def prepare(arguments: Arguments) -> tuple:
        return jax.block_until_ready(tuple(map(to_device, arguments)))

    return Implementation(
        "jax",
        {"jax": jax.__version__},
        lambda *arguments: jax.block_until_ready(compiled(*arguments)),
        threads=0,  # XLA's own pool: it has no documented count to read
        prepare=prepare,
        to_numpy=lambda result: jax.tree.map(np.asarray, result),
        note=f"{note}; device arrays in and out",
    )
