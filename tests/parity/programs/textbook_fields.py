"""Partial differential equations on grids: stencils, relaxation, cellular automata."""

import numpy as np

from tests.parity.program import program


def line(rng, shape, dtype):
    return (rng.uniform(0.0, 1.0, shape).astype(dtype),)


def plane(rng, shape, dtype):
    return (rng.uniform(0.0, 1.0, (*shape, shape[0] // 2 + 3)).astype(dtype),)


PLANES = ((9,), (40,))


@program(line)
def heat_equation(u, steps=20, r=0.2):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@program(line)
def wave_equation(u, courant=0.5):
    previous, current = u.copy(), u.copy()
    following = np.zeros_like(u)
    energy = []
    for _ in range(10):
        following[1:-1] = (
            2 * current[1:-1]
            - previous[1:-1]
            + courant**2 * (current[2:] - 2 * current[1:-1] + current[:-2])
        )
        following[0] = following[-1] = 0
        previous, current, following = current, following, previous
        energy.append(np.sum((current - previous) ** 2))
    return current, energy


@program(line)
def upwind_advection(u):
    courant = 0.7
    for _ in range(12):
        u = u - courant * (u - np.roll(u, 1))
    return u, u.sum()


@program(line)
def burgers_lax_friedrichs(u):
    dt_over_dx = 0.4
    for _ in range(8):
        flux = 0.5 * u * u
        left, right = np.roll(u, 1), np.roll(u, -1)
        u = 0.5 * (left + right) - 0.5 * dt_over_dx * (np.roll(flux, -1) - np.roll(flux, 1))
    return u


@program(line, shapes=((12,), (60,)))
def crank_nicolson(u, r=0.5):
    n = u.size
    second = np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    identity = np.eye(n)
    left, right = identity - r / 2 * second, identity + r / 2 * second
    for _ in range(3):
        u = np.linalg.solve(left, right @ u)
    return u


@program(plane, shapes=PLANES)
def poisson_jacobi(source):
    phi = np.zeros_like(source)
    change = np.inf
    sweeps = 0
    while change > 5e-2 and sweeps < 25:
        old = phi.copy()
        phi[1:-1, 1:-1] = 0.25 * (
            old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] + source[1:-1, 1:-1]
        )
        change = np.abs(phi - old).max()
        sweeps += 1
    return phi


@program(plane, shapes=PLANES)
def red_black_relaxation(phi):
    rows, columns = np.indices(phi.shape)
    inside = np.zeros(phi.shape, dtype=bool)
    inside[1:-1, 1:-1] = True
    for sweep in range(6):
        color = ((rows + columns) % 2 == sweep % 2) & inside
        mean = np.zeros_like(phi)
        mean[1:-1, 1:-1] = (phi[2:, 1:-1] + phi[:-2, 1:-1] + phi[1:-1, 2:] + phi[1:-1, :-2]) / 4
        phi[color] = 1.5 * mean[color] - 0.5 * phi[color]
    return phi


def laplacian(field):
    return (
        np.roll(field, 1, 0)
        + np.roll(field, -1, 0)
        + np.roll(field, 1, 1)
        + np.roll(field, -1, 1)
        - 4 * field
    )


@program(plane, shapes=PLANES)
def gray_scott(v):
    u = 1 - v
    feed, kill = 0.04, 0.06
    for _ in range(6):
        reaction = u * v * v
        u += 0.16 * laplacian(u) - reaction + feed * (1 - u)
        v += 0.08 * laplacian(v) + reaction - (feed + kill) * v
    return u, v


@program(plane, shapes=PLANES)
def game_of_life(chance):
    alive = (chance < 0.4).astype(np.int8)
    population = []
    for _ in range(5):
        padded = np.pad(alive, 1)
        neighbors = sum(
            padded[1 + i : padded.shape[0] - 1 + i, 1 + j : padded.shape[1] - 1 + j]
            for i in (-1, 0, 1)
            for j in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        alive = ((neighbors == 3) | ((alive == 1) & (neighbors == 2))).astype(np.int8)
        population.append(int(alive.sum()))
    return alive, population


@program(lambda rng, shape, dtype: ((rng.random(shape) < 0.5).astype(np.uint8), 110))
def elementary_automaton(cells, rule):
    table = np.array([(rule >> k) & 1 for k in range(8)], dtype=np.uint8)
    rows = [cells]
    for _ in range(10):
        code = 4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)
        cells = table[code]
        rows.append(cells)
    return np.array(rows)


@program(plane, shapes=PLANES)
def boundary_by_views(field):
    """Neumann borders copied through views, then one explicit step in place."""
    top, bottom = field[0], field[-1]
    left, right = field[:, 0], field[:, -1]
    top[:] = field[1]
    bottom[:] = field[-2]
    left[:] = field[:, 1]
    right[:] = field[:, -2]
    interior = field[1:-1, 1:-1]
    interior += 0.1 * (field[2:, 1:-1] + field[:-2, 1:-1] - 2 * interior)
    return interior.mean(), interior.base is not None


@program(plane, shapes=PLANES)
def sandpile(chance):
    """Topples until every cell holds fewer than four grains."""
    grains = (chance * 6).astype(np.int64)
    toppled = 0
    while (grains >= 4).any() and toppled < 10:
        unstable = grains >= 4
        grains -= 4 * unstable
        grains[1:] += unstable[:-1]
        grains[:-1] += unstable[1:]
        grains[:, 1:] += unstable[:, :-1]
        grains[:, :-1] += unstable[:, 1:]
        toppled += 1
    return grains, toppled
