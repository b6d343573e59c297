"""Ordinary differential equations: explicit, implicit and symplectic steps."""

import numpy as np

from tests.parity.program import program


def states(rng, shape, dtype):
    return rng.uniform(0.5, 1.5, shape).astype(dtype), 0.05


def phase_space(rng, shape, dtype):
    return rng.normal(size=shape).astype(dtype), rng.normal(size=shape).astype(dtype)


def bodies(rng, shape, dtype):
    n = shape[0]
    position = rng.normal(size=(n, 3)).astype(dtype)
    velocity = rng.normal(scale=0.1, size=(n, 3)).astype(dtype)
    return position, velocity, rng.uniform(0.5, 1.0, n).astype(dtype)


@program(states)
def euler_decay(y, dt):
    trajectory = np.empty((11, *y.shape), dtype=y.dtype)
    trajectory[0] = y
    for step in range(10):
        trajectory[step + 1] = trajectory[step] - dt * trajectory[step] ** 2
    return trajectory


@program(states)
def runge_kutta_4(y, dt):
    def slope(t, y):
        return y * (1 - y / 3) + 0.1 * np.sin(t)

    t = 0.0
    for _ in range(8):
        k1 = slope(t, y)
        k2 = slope(t + dt / 2, y + dt / 2 * k1)
        k3 = slope(t + dt / 2, y + dt / 2 * k2)
        k4 = slope(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += dt
    return t, y


@program(phase_space)
def leapfrog_pendulum(angle, momentum):
    dt = 0.05
    momentum -= dt / 2 * np.sin(angle)
    for _ in range(12):
        angle += dt * momentum
        momentum -= dt * np.sin(angle)
    momentum += dt / 2 * np.sin(angle)
    return 0.5 * momentum**2 - np.cos(angle)


@program(lambda rng, shape, dtype: (rng.uniform(0.5, 1.0, (3, *shape)).astype(dtype), 0.01))
def lorenz_attractor(state, dt, sigma=10.0, rho=28.0, beta=8 / 3):
    for _ in range(10):
        x, y, z = state
        rate = np.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])
        state = state + dt * rate
    return state


@program(states)
def predator_and_prey(prey, dt):
    predator = np.full_like(prey, 0.5)
    history = []
    for _ in range(6):
        births, meals = 1.1 * prey, 0.4 * prey * predator
        prey, predator = prey + dt * (births - meals), predator + dt * (0.5 * meals - predator)
        history.append(prey.mean())
    return prey, predator, np.array(history)


@program(lambda rng, shape, dtype: (rng.uniform(0.1, 0.6, shape).astype(dtype), 40))
def sir_epidemic(rates, days):
    """Susceptible, infected and recovered shares, for many infection rates."""
    s = np.full_like(rates, 0.99)
    i = 1 - s
    r = np.zeros_like(rates)
    peak = i.copy()
    for _ in range(days):
        infections = rates * s * i
        recoveries = 0.1 * i
        s -= infections
        i += infections - recoveries
        r += recoveries
        np.maximum(peak, i, out=peak)
    return s, i, r, peak


@program(states)
def adams_bashforth(y, dt):
    def f(y):
        return np.cos(y) - 0.5 * y

    previous = f(y)
    y = y + dt * previous
    for _ in range(9):
        current = f(y)
        y = y + dt * (1.5 * current - 0.5 * previous)
        previous = current
    return y


@program(states)
def implicit_euler(y, dt):
    """Stiff decay towards cos t; each step solves y' = y + dt f(y') by Newton."""
    rate, t = 15.0, 0.0
    for _ in range(5):
        t += dt
        guess = y
        for _ in range(3):
            residual = guess - y + dt * rate * (guess**3 - np.cos(t))
            guess = guess - residual / (1 + 3 * dt * rate * guess**2)
        y = guess
    return y


@program(
    lambda rng, shape, dtype: (dtype.type(rng.uniform(0.8, 1.2)), dtype.type(2.0)), shapes=((1,),)
)
def adaptive_step_heun(y, end):
    t, h = 0.0, 0.25
    accepted = rejected = 0
    while t < end:
        h = min(h, float(end) - t)
        k1 = -2 * y + t
        k2 = -2 * (y + h * k1) + t + h
        error = abs(h * (k2 - k1) / 2)
        if error <= 0.01:
            t += h
            y = y + h * (k1 + k2) / 2
            accepted += 1
            if error < 0.001:
                h *= 2
        else:
            h /= 2
            rejected += 1
    return {"y": y, "accepted": accepted, "rejected": rejected}


@program(bodies, shapes=((5,), (33,)))
def gravitating_bodies(position, velocity, mass):
    dt, softening = 0.01, 0.1
    for _ in range(3):
        offset = position[None, :, :] - position[:, None, :]
        distance2 = (offset**2).sum(axis=-1) + softening**2
        pull = (mass[None, :] / distance2**1.5)[:, :, None] * offset
        velocity += dt * pull.sum(axis=1)
        position += dt * velocity
    kinetic = 0.5 * np.sum(mass[:, None] * velocity**2)
    return position, velocity, kinetic


@program(bodies, shapes=((4,), (24,)))
def velocity_verlet_springs(position, velocity, mass):
    """A chain of masses with fixed neighbors' rest length of one."""

    def force(x):
        bond = np.diff(x, axis=0)
        length = np.linalg.norm(bond, axis=1, keepdims=True)
        tension = (length - 1) * bond / length
        total = np.zeros_like(x)
        total[:-1] += tension
        total[1:] -= tension
        return total

    dt = 0.02
    acceleration = force(position) / mass[:, np.newaxis]
    for _ in range(5):
        position = position + velocity * dt + 0.5 * acceleration * dt**2
        new = force(position) / mass[:, np.newaxis]
        velocity = velocity + 0.5 * (acceleration + new) * dt
        acceleration = new
    return position, velocity


@program(phase_space)
def van_der_pol_with_event(x, v):
    """Steps until the mean of all oscillators changes its sign."""
    dt, mu = 0.1, 0.8
    sign = np.sign(x.mean())
    for step in range(15):
        x, v = x + dt * v, v + dt * (mu * (1 - x**2) * v - x)
        np.clip(v, -5, 5, out=v)
        if np.sign(x.mean()) != sign:
            return "crossed", step, x
    return "never", None, x
