"""A particle filter: a robot that measures its distance to beacons, with systematic resampling."""

import numpy as np

from benchmarks.regret.decorate import jit

BEACONS = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])


@jit
def wrap(angle):
    return (angle + np.pi) % (2 * np.pi) - np.pi


@jit
def move(state, speed, turn, dt):
    x, y, heading = state
    heading = wrap(heading + turn * dt)
    return np.array([x + speed * dt * np.cos(heading), y + speed * dt * np.sin(heading), heading])


@jit
def distances(points):
    offsets = points[:, None, :2] - BEACONS[None, :, :]
    return np.sqrt((offsets**2).sum(axis=2))


class Filter:
    def __init__(self, rng, count):
        self.rng = rng
        self.particles = np.column_stack(
            [
                rng.uniform(0, 10, count),
                rng.uniform(0, 10, count),
                rng.uniform(-np.pi, np.pi, count),
            ]
        )
        self.weights = np.full(count, 1 / count)
        self.resampled = 0

    @jit
    def predict(self, speed, turn, dt):
        count = len(self.particles)
        speeds = speed + self.rng.normal(0, 0.1, count)
        turns = turn + self.rng.normal(0, 0.05, count)
        heading = wrap(self.particles[:, 2] + turns * dt)
        self.particles[:, 0] += speeds * dt * np.cos(heading)
        self.particles[:, 1] += speeds * dt * np.sin(heading)
        self.particles[:, 2] = heading

    @jit
    def update(self, measured, noise):
        errors = distances(self.particles) - measured
        self.weights *= np.exp(-0.5 * (errors**2).sum(axis=1) / noise**2)
        self.weights += 1e-300
        self.weights /= self.weights.sum()

    @jit
    def effective(self):
        return 1 / np.sum(self.weights**2)

    @jit
    def resample(self):
        count = len(self.weights)
        positions = (np.arange(count) + self.rng.random()) / count
        chosen = np.searchsorted(np.cumsum(self.weights), positions)
        self.particles = self.particles[np.minimum(chosen, count - 1)]
        self.weights = np.full(count, 1 / count)
        self.resampled += 1

    @jit
    def estimate(self):
        x = self.weights @ self.particles[:, 0]
        y = self.weights @ self.particles[:, 1]
        heading = np.arctan2(
            self.weights @ np.sin(self.particles[:, 2]), self.weights @ np.cos(self.particles[:, 2])
        )
        return np.array([x, y, heading])

    @jit
    def step(self, speed, turn, dt, measured, noise):
        self.predict(speed, turn, dt)
        self.update(measured, noise)
        if self.effective() < len(self.weights) / 2:
            self.resample()
        return self.estimate()


@jit
def path(steps, dt):
    state, found = np.array([5.0, 2.0, 0.0]), []
    for number in range(steps):
        turn = 0.3 if number % 40 < 30 else -0.2
        state = move(state, 1.0, turn, dt)
        found.append((state, turn))
    return found


@jit
def track(rng, particles, steps, dt=0.1, noise=0.3):
    tracked, errors = Filter(rng, particles), []
    for state, turn in path(steps, dt):
        measured = distances(state[None, :])[0] + rng.normal(0, noise, len(BEACONS))
        found = tracked.step(1.0, turn, dt, measured, noise)
        errors.append(np.hypot(*(found - state)[:2]))
    return np.array(errors), tracked.resampled


def run():
    errors, resampled = track(np.random.default_rng(3), 1500, 150)
    return float(np.median(errors)) < 1.0, resampled > 0
