"""A channel with a cylinder, by the lattice Boltzmann method with nine velocities."""

import numpy as np

from benchmarks.regret.decorate import jit

VELOCITIES = np.array(
    [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]]
)
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


@jit
def cylinder(width, height, radius):
    x, y = np.meshgrid(np.arange(width), np.arange(height), indexing="ij")
    return (x - width / 4) ** 2 + (y - height / 2 - 0.5) ** 2 < radius**2


@jit
def equilibrium(density, velocity):
    projected = 3 * np.tensordot(VELOCITIES, velocity, axes=(1, 0))
    squared = 1.5 * (velocity**2).sum(axis=0)
    terms = 1 + projected + 0.5 * projected**2 - squared
    return WEIGHTS[:, None, None] * density * terms


@jit
def macroscopic(populations):
    density = populations.sum(axis=0)
    velocity = np.tensordot(VELOCITIES.T, populations, axes=(1, 0)) / density
    return density, velocity


@jit
def collide(populations, omega):
    density, velocity = macroscopic(populations)
    return populations + omega * (equilibrium(density, velocity) - populations), velocity


@jit
def stream(populations):
    for number, (dx, dy) in enumerate(VELOCITIES):
        populations[number] = np.roll(populations[number], (dx, dy), axis=(0, 1))
    return populations


@jit
def bounce(populations, before, wall):
    for number in range(9):
        populations[number, wall] = before[OPPOSITE[number], wall]
    return populations


@jit
def inflow(populations, speed):
    height = populations.shape[2]
    y = np.arange(height) / (height - 1)
    velocity = np.zeros((2, 1, height))
    velocity[0, 0] = speed * 4 * y * (1 - y)
    populations[:, :1] = equilibrium(np.ones((1, height)), velocity)
    populations[:, -1] = populations[:, -2]
    return populations


class Flow:
    def __init__(self, width, height, speed, viscosity):
        self.wall = cylinder(width, height, height / 9)
        self.speed, self.omega = speed, 1 / (3 * viscosity + 0.5)
        velocity = np.zeros((2, width, height))
        velocity[0] = speed
        self.populations = equilibrium(np.ones((width, height)), velocity)
        self.velocity = velocity

    @jit
    def step(self):
        before = self.populations
        after, self.velocity = collide(before, self.omega)
        after = bounce(after, before, self.wall)
        self.populations = inflow(stream(after), self.speed)

    @jit
    def vorticity(self):
        u, v = self.velocity
        return np.gradient(v, axis=0) - np.gradient(u, axis=1)

    @jit
    def drag(self):
        pressure = self.populations[[1, 5, 8]].sum(axis=0) - self.populations[[3, 6, 7]].sum(axis=0)
        return pressure[self.wall].sum()


@jit
def simulate(steps):
    flow, drags = Flow(120, 40, 0.1, 0.02), []
    for _ in range(steps):
        flow.step()
        drags.append(flow.drag())
    return flow, drags


def run():
    flow, drags = simulate(90)
    return float(drags[-1]), float(np.abs(flow.vorticity()).max())
