"""Loops, branches on data, calls of your own functions, and arguments that are changed."""

import numpy as np

import runmat_jit as runmat


def step(state, rate):
    return state + rate * (1 - state**2)


@runmat.jit
def relax(state, rate, *, tolerance=1e-6):
    for count in range(200):
        update = step(state, rate)
        if np.abs(update - state).max() < tolerance:
            return count
        state[:] = update  # the caller's array
    return None


start = np.linspace(-0.9, 0.9, 1001)
compiled, plain = start.copy(), start.copy()
count = relax(compiled, 0.1)

with runmat.disable():
    assert count == relax(plain, 0.1)

np.testing.assert_allclose(compiled, plain, rtol=1e-12)
assert not np.array_equal(compiled, start)
print(f"settled after {count} steps")
