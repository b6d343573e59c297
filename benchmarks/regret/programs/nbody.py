"""Planets around a star: a class with state, a leapfrog step, energies and a record of both."""

import numpy as np

from benchmarks.regret.decorate import jit

GRAVITY = 4 * np.pi**2
SOFTENING = 1e-3


class Body:
    def __init__(self, name, mass, position, velocity):
        self.name = name
        self.mass = mass
        self.position = np.asarray(position, float)
        self.velocity = np.asarray(velocity, float)

    @jit
    def momentum(self):
        return self.mass * self.velocity

    @jit
    def kinetic(self):
        return 0.5 * self.mass * np.dot(self.velocity, self.velocity)


class System:
    def __init__(self, bodies):
        self.bodies = bodies
        self.time = 0.0
        self.history = []

    @property
    @jit
    def masses(self):
        return np.array([body.mass for body in self.bodies])

    @jit
    def accelerations(self):
        positions = np.array([body.position for body in self.bodies])
        offsets = positions[None, :, :] - positions[:, None, :]
        squares = (offsets**2).sum(axis=2) + SOFTENING**2
        weights = self.masses[None, :] / squares**1.5
        np.fill_diagonal(weights, 0.0)
        return GRAVITY * (weights[:, :, None] * offsets).sum(axis=1)

    @jit
    def step(self, dt):
        for body, acceleration in zip(self.bodies, self.accelerations(), strict=True):
            body.velocity = body.velocity + 0.5 * dt * acceleration
            body.position = body.position + dt * body.velocity
        for body, acceleration in zip(self.bodies, self.accelerations(), strict=True):
            body.velocity = body.velocity + 0.5 * dt * acceleration
        self.time += dt

    @jit
    def potential(self):
        total = 0.0
        for i, one in enumerate(self.bodies):
            for other in self.bodies[i + 1 :]:
                distance = np.linalg.norm(one.position - other.position)
                total -= GRAVITY * one.mass * other.mass / distance
        return total

    @jit
    def energy(self):
        return sum(body.kinetic() for body in self.bodies) + self.potential()

    @jit
    def centre(self):
        masses = self.masses
        positions = np.array([body.position for body in self.bodies])
        return masses @ positions / masses.sum()

    @jit
    def run(self, years, dt):
        steps = int(years / dt)
        for number in range(steps):
            self.step(dt)
            if number % 20 == 0:
                self.history.append((self.time, self.energy()))
        return self.history


@jit
def circular(radius, mass):
    speed = np.sqrt(GRAVITY * mass / radius)
    return np.array([radius, 0.0, 0.0]), np.array([0.0, speed, 0.0])


@jit
def make_system(count):
    bodies = [Body("star", 1.0, np.zeros(3), np.zeros(3))]
    for number in range(count):
        position, velocity = circular(0.4 + 0.3 * number, 1.0)
        bodies.append(Body(f"planet {number}", 1e-6 * (number + 1), position, velocity))
    return System(bodies)


def run():
    system = make_system(7)
    history = system.run(0.6, 0.002)
    drift = abs(history[-1][1] / history[0][1] - 1)
    return float(drift), float(system.centre().sum()), float(system.bodies[3].momentum()[1])
