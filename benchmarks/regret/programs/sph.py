"""A dam that breaks: smoothed particles in a box, neighbours found on a grid of cells."""

import numpy as np

from benchmarks.regret.decorate import jit

SMOOTHING, REST, STIFFNESS, VISCOSITY, MASS = 0.06, 1000.0, 50.0, 4.0, 1.0
GRAVITY = np.array([0.0, -9.81])


@jit
def dam(columns, rows):
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    spacing = SMOOTHING * 0.55
    jitter = 0.01 * spacing * np.sin(37 * np.arange(columns * rows))
    points = np.column_stack([x.ravel(), y.ravel()]) * spacing + 0.05
    points[:, 0] += jitter
    return points


@jit
def cells_of(points):
    return np.floor(points / SMOOTHING).astype(int)


@jit
def grid_of(cells):
    found = {}
    for number, (i, j) in enumerate(cells):
        found.setdefault((int(i), int(j)), []).append(number)
    return found


@jit
def pairs_of(points):
    cells = cells_of(points)
    grid = grid_of(cells)
    first, second = [], []
    for (i, j), members in grid.items():
        around = []
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                around += grid.get((i + di, j + dj), [])
        a = np.repeat(members, len(around))
        b = np.tile(around, len(members))
        first.append(a)
        second.append(b)
    return np.concatenate(first), np.concatenate(second)


@jit
def close_pairs(points):
    a, b = pairs_of(points)
    offsets = points[a] - points[b]
    distances = np.sqrt((offsets**2).sum(axis=1))
    near = (distances < SMOOTHING) & (a != b)
    return a[near], b[near], offsets[near], distances[near]


@jit
def poly6(distance):
    return 4 / (np.pi * SMOOTHING**8) * (SMOOTHING**2 - distance**2) ** 3


@jit
def densities(count, a, distances):
    own = poly6(0.0)
    found = np.bincount(a, poly6(distances), minlength=count)
    return MASS * (found + own) * 0.5


@jit
def pressures(density):
    return STIFFNESS * np.maximum(density / REST - 1, 0)


@jit
def forces(velocity, density, pressure, a, b, offsets, distances):
    count = len(density)
    direction = offsets / (distances + 1e-9)[:, None]
    reach = SMOOTHING - distances
    push = 0.5 * (pressure[a] + pressure[b]) / density[b] * reach**2 * 30 / SMOOTHING**2
    drag = VISCOSITY * reach / SMOOTHING / density[b]
    each = push[:, None] * direction + drag[:, None] * (velocity[b] - velocity[a])
    x = np.bincount(a, each[:, 0], minlength=count)
    y = np.bincount(a, each[:, 1], minlength=count)
    return np.column_stack([x, y]) + GRAVITY


@jit
def walls(points, velocity, width, damping=-0.4):
    for axis in range(2):
        low = points[:, axis] < 0.02
        high = points[:, axis] > width - 0.02
        velocity[low | high, axis] *= damping
        points[:, axis] = np.clip(points[:, axis], 0.02, width - 0.02)
    return points, velocity


class Fluid:
    def __init__(self, columns, rows, width):
        self.points = dam(columns, rows)
        self.velocity = np.zeros_like(self.points)
        self.width = width

    @jit
    def step(self, dt):
        a, b, offsets, distances = close_pairs(self.points)
        density = densities(len(self.points), a, distances)
        force = forces(self.velocity, density, pressures(density), a, b, offsets, distances)
        self.velocity = self.velocity + dt * force
        self.points = self.points + dt * self.velocity
        self.points, self.velocity = walls(self.points, self.velocity, self.width)
        return density

    @jit
    def kinetic(self):
        return 0.5 * MASS * (self.velocity**2).sum()


def run():
    fluid, energies = Fluid(14, 18, 1.6), []
    for _ in range(20):
        fluid.step(0.002)
        energies.append(fluid.kinetic())
    return float(energies[5]), float(fluid.points[:, 1].mean())
