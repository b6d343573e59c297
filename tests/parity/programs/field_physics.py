"""Physics: integrators, fields, waves and lattices as people write them."""

from typing import NamedTuple

import numpy as np

from tests.parity.program import program

G = 6.674e-11
KB = 1.380649e-23


def bodies(rng, shape, dtype):
    count = shape[0]
    position = rng.normal(0, 1, (count, 3)).astype(dtype)
    velocity = rng.normal(0, 0.1, (count, 3)).astype(dtype)
    mass = rng.uniform(0.5, 2, count).astype(dtype)
    return position, velocity, mass


def grid(rng, shape, dtype):
    return (rng.random(shape).astype(dtype),)


def signed(rng, shape, dtype):
    return (rng.normal(0, 1, shape).astype(dtype),)


@program(bodies, shapes=((3,), (20,)), dtypes=("float64", "float32"))
def leapfrog_gravity(position, velocity, mass, dt=0.01, *, steps=5, softening=0.05):
    def acceleration(at):
        delta = at[None, :, :] - at[:, None, :]
        inverse = ((delta**2).sum(axis=-1) + softening**2) ** -1.5
        np.fill_diagonal(inverse, 0)
        return (delta * inverse[..., None] * mass[None, :, None]).sum(axis=1)

    a = acceleration(position)
    for _ in range(steps):
        velocity = velocity + 0.5 * dt * a
        position = position + dt * velocity
        a = acceleration(position)
        velocity = velocity + 0.5 * dt * a
    kinetic = 0.5 * (mass * (velocity**2).sum(1)).sum()
    return position, velocity, kinetic


@program(grid, shapes=((12,), (300,)), dtypes=("float64", "float32"))
def heat_equation_in_place(u, alpha=0.2, steps=10):
    for _ in range(steps):
        u[1:-1] += alpha * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[0] = u[1]
        u[-1] = u[-2]
    return u.sum()


@program(grid, shapes=((8, 8), (24, 20)), dtypes=("float64", "float32"))
def relax_laplace(potential, tolerance=0.04):
    potential = potential.copy()
    potential[0], potential[-1] = 1.0, 0.0
    sweeps, change = 0, np.inf
    while change > tolerance:
        new = potential.copy()
        new[1:-1, 1:-1] = 0.25 * (
            potential[2:, 1:-1] + potential[:-2, 1:-1] + potential[1:-1, 2:] + potential[1:-1, :-2]
        )
        change = np.abs(new - potential).max()
        potential = new
        sweeps += 1
        if sweeps > 200:
            break
    return potential, sweeps


@program(signed, shapes=((6, 6), (20, 16)), dtypes=("int8", "float64"))
def ising_energy(field, coupling=1.0, external=0.1):
    spins = np.where(field > 0, 1, -1).astype(np.int8)
    bonds = spins * np.roll(spins, 1, axis=0) + spins * np.roll(spins, 1, axis=1)
    energy = -coupling * bonds.sum() - external * spins.sum()
    flip = 2 * spins * sum(np.roll(spins, s, axis=a) for a in (0, 1) for s in (1, -1))
    favorable = (flip < 0) | (flip == 0)
    spins[favorable] *= -1
    return energy, spins, spins.mean(), spins.dtype.name


class State(NamedTuple):
    q: np.ndarray
    p: np.ndarray

    def energy(self, k):
        return 0.5 * (self.p @ self.p + k * self.q @ self.q)


@program(signed, shapes=((4,), (100,)), dtypes=("float64", "float32"))
def symplectic_oscillators(q, k=4.0, dt=0.05):
    state = State(q, np.zeros_like(q))
    energies = [state.energy(k)]
    for _ in range(8):
        p = state.p - dt * k * state.q
        state = state._replace(p=p)
        state = State(state.q + dt * p, p)
        energies.append(state.energy(k))
    return state, np.ptp(energies) / energies[0]


@program(grid, shapes=((3,), (400,)), dtypes=("float64", "float32"))
def maxwell_speed_distribution(speed, temperatures=(100, 300), mass=4.65e-26):
    curves = {}
    for temperature in temperatures:
        scale = mass / (2 * np.pi * KB * temperature)
        v = speed * 1000
        boltzmann = np.exp(-mass * v**2 / (2 * KB * temperature))
        curves[temperature] = 4 * np.pi * scale**1.5 * v**2 * boltzmann
    ratio = curves[temperatures[0]] / curves[temperatures[-1]]
    return curves, ratio


def charges(rng, shape, dtype):
    return rng.uniform(-1, 1, (*shape, 2)).astype(dtype), rng.choice([-1, 1], shape)


@program(charges, shapes=((3,), (15,)), dtypes=("float64", "float32"))
def electric_field_on_a_grid(where, charge, n=6):
    xs = np.linspace(-2, 2, n, dtype=where.dtype)
    X, Y = np.meshgrid(xs, xs, indexing="ij")
    ex, ey = np.zeros_like(X), np.zeros_like(Y)
    for (px, py), q in zip(where, charge):
        dx, dy = X - px, Y - py
        r3 = (dx**2 + dy**2) ** 1.5
        ex += q * dx / r3
        ey += q * dy / r3
    strength = np.sqrt(ex**2 + ey**2)
    return ex / strength, ey / strength, np.log10(strength)


@program(signed, shapes=((16,), (128,)), dtypes=("float64", "float32"))
def split_step_schroedinger(potential, dt=0.05):
    n = potential.size
    x = np.linspace(-5, 5, n)
    psi = np.exp(-(x**2) / 2 + 2j * x)
    psi /= np.sqrt((np.abs(psi) ** 2).sum())
    k = 2 * np.pi * np.fft.fftfreq(n, d=x[1] - x[0])
    half = np.exp(-0.5j * dt * potential)
    for _ in range(4):
        psi = half * np.fft.ifft(np.exp(-0.5j * dt * k**2) * np.fft.fft(half * psi))
    density = psi.real**2 + psi.imag**2
    return psi, density, (x * density).sum()


@program(signed, shapes=((3, 3), (40, 3)), dtypes=("float64", "float32"))
def lorentz_boost(momentum, mass=0.938, beta=0.6):
    if not 0 <= beta < 1:
        raise ValueError(f"beta must lie in [0, 1), got {beta}")
    gamma = 1 / np.sqrt(1 - beta**2)
    energy = np.sqrt(mass**2 + np.einsum("ij,ij->i", momentum, momentum))
    four = np.column_stack([energy, momentum])
    boost = np.eye(4)
    boost[[0, 3], [0, 3]] = gamma
    boost[[0, 3], [3, 0]] = -gamma * beta
    boosted = four @ boost.T
    metric = np.diag([1, -1, -1, -1])
    return boosted, np.sqrt(np.abs(np.einsum("ni,ij,nj->n", boosted, metric, boosted)))


@program(grid, shapes=((5,), (50,)), dtypes=("float64",))
def pendulum_runge_kutta(angles, steps=6, dt=0.02):
    calls = 0

    def rhs(y):
        nonlocal calls
        calls += 1
        theta, omega = y
        return np.array([omega, -9.81 * np.sin(theta)])

    y = np.vstack((angles, np.zeros(len(angles))))
    trace = [y[0].copy()]
    for _ in range(steps):
        k1 = rhs(y)
        k2 = rhs(y + dt / 2 * k1)
        k3 = rhs(y + dt / 2 * k2)
        k4 = rhs(y + dt * k3)
        y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        trace.append(y[0].copy())
    return np.stack(trace), calls
