"""Physics: particles, spins, waves, fractals, random processes with a given generator."""

import numpy as np

from tests.parity.program import program


def particles(rng, shape, dtype):
    """Positions on a jittered grid in a periodic box."""
    side = int(np.ceil(np.sqrt(shape[0])))
    grid = np.stack(np.divmod(np.arange(shape[0]), side), axis=1) * 1.2
    return (grid + rng.uniform(-0.05, 0.05, (shape[0], 2))).astype(dtype), dtype.type(1.2 * side)


def spins(rng, shape, dtype):
    return (rng.choice([-1, 1], (*shape, shape[0] + 2)).astype(np.int8),)


def generator(rng, shape, dtype):
    return rng, shape[0], dtype


def angles(rng, shape, dtype):
    return rng.uniform(-np.pi, np.pi, shape).astype(dtype), rng.normal(size=shape).astype(dtype)


@program(particles, shapes=((6,), (30,)))
def lennard_jones(position, box):
    delta = position[:, None, :] - position[None, :, :]
    delta -= box * np.round(delta / box)
    r2 = np.sum(delta**2, axis=-1)
    np.fill_diagonal(r2, np.inf)
    inverse6 = 1 / r2**3
    energy = 2 * np.sum(inverse6**2 - inverse6)
    strength = 24 * (2 * inverse6**2 - inverse6) / r2
    force = (strength[:, :, None] * delta).sum(axis=1)
    return energy, force


@program(particles, shapes=((6,), (30,)))
def radial_distribution(position, box, bins=8):
    i, j = np.triu_indices(len(position), k=1)
    separation = position[i] - position[j]
    separation -= box * np.rint(separation / box)
    distance = np.linalg.norm(separation, axis=1)
    counts, edges = np.histogram(distance, bins=bins, range=(0, float(box) / 2))
    shell = np.pi * (edges[1:] ** 2 - edges[:-1] ** 2)
    return counts / (shell * len(distance) / box**2), edges


@program(spins, shapes=((6,), (24,)))
def ising_energy(spin):
    s = spin.astype(np.int64)
    bonds = s * np.roll(s, 1, axis=0) + s * np.roll(s, 1, axis=1)
    energy = -bonds.sum()
    return energy, abs(s.mean()), energy / s.size


@program(lambda rng, shape, dtype: (*spins(rng, shape, dtype), rng), shapes=((6,), (24,)))
def checkerboard_metropolis(spin, rng, beta=0.5):
    rows, columns = np.indices(spin.shape)
    black = (rows + columns) % 2 == 0
    accepted = 0
    for color in (black, ~black):
        field = (
            np.roll(spin, 1, 0) + np.roll(spin, -1, 0) + np.roll(spin, 1, 1) + np.roll(spin, -1, 1)
        )
        chance = np.exp(-2 * beta * (spin * field).astype(np.float64))
        flip = color & (rng.random(spin.shape) < chance)
        spin[flip] *= -1
        accepted += int(flip.sum())
    return accepted / spin.size


@program(generator)
def random_walk(rng, n, dtype):
    steps = rng.choice(np.array([-1, 1]), size=(n, 30))
    paths = steps.cumsum(axis=1)
    returned = (paths == 0).any(axis=1)
    spread = (paths[:, -1].astype(dtype) ** 2).mean()
    first = np.where(returned, (paths == 0).argmax(axis=1), -1)
    return spread, returned.mean(), first


@program(generator)
def pi_by_darts(rng, n, dtype):
    points = rng.uniform(-1, 1, size=(n, 2)).astype(dtype)
    inside = np.einsum("ij,ij->i", points, points) <= 1
    share = inside.mean()
    return 4 * share, 4 * np.sqrt(share * (1 - share) / n)


@program(generator)
def ornstein_uhlenbeck(rng, n, dtype):
    x = np.zeros(n, dtype=dtype)
    for _ in range(10):
        x += -0.5 * x * 0.1 + 0.3 * np.sqrt(0.1) * rng.standard_normal(n).astype(dtype)
    return x, x.mean(), x.std()


@program(generator, shapes=((6,), (12,)))
def metropolis_hastings(rng, n, dtype):
    """A chain for a density with two humps."""

    def log_density(x):
        return np.logaddexp(-0.5 * (x - 2) ** 2, -0.5 * (x + 2) ** 2)

    x = dtype.type(0)
    chain = []
    for _ in range(n):
        proposal = x + rng.normal()
        if np.log(rng.random()) < log_density(proposal) - log_density(x):
            x = proposal
        chain.append(x)
    return np.array(chain), len(set(chain)) - 1


@program(lambda rng, shape, dtype: (shape[0], dtype), shapes=((8,), (24,)))
def mandelbrot(n, dtype):
    y, x = np.ogrid[-1.2 : 1.2 : n * 1j, -2 : 0.6 : (n + 3) * 1j]
    c = (x + 1j * y).astype(np.result_type(dtype, np.complex64))
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(12):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        count += inside
    return count


@program(
    lambda rng, shape, dtype: (np.linspace(-1.5, 1.5, shape[0], dtype=dtype),), shapes=((9,), (31,))
)
def julia_set(axis, cr=-0.4, ci=0.6):
    zr, zi = np.meshgrid(axis, axis)
    escaped = np.full(zr.shape, 15)
    for step in range(15):
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
        out = (zr * zr + zi * zi > 4) & (escaped == 15)
        escaped[out] = step
        zr, zi = np.clip(zr, -10, 10), np.clip(zi, -10, 10)
    return escaped


@program(lambda rng, shape, dtype: (rng.uniform(0.2, 3.0, shape).astype(dtype), 5800.0))
def planck_radiation(micrometers, temperature):
    h, c, k = 6.62607015e-34, 2.99792458e8, 1.380649e-23
    wavelength = micrometers.astype(np.float64) * 1e-6
    exponent = h * c / (wavelength * k * temperature)
    radiance = 2 * h * c**2 / wavelength**5 / np.expm1(exponent)
    return (radiance / radiance.max()).astype(micrometers.dtype), micrometers[radiance.argmax()]


@program(angles)
def double_slit(angle, _other, slits=4, spacing=3.0):
    phase = np.pi * spacing * np.sin(angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        grating = np.sin(slits * phase) / (slits * np.sin(phase))
    grating = np.where(np.isfinite(grating), grating, 1)
    return grating**2 * np.sinc(0.5 * np.sin(angle)) ** 2


@program(angles)
def kuramoto_oscillators(phase, frequency):
    order = []
    for _ in range(6):
        mean_field = np.exp(1j * phase).mean()
        r, psi = np.abs(mean_field), np.angle(mean_field)
        phase = phase + 0.1 * (frequency + 1.5 * r * np.sin(psi - phase))
        phase = np.mod(phase + np.pi, 2 * np.pi) - np.pi
        order.append(r)
    return phase, np.array(order)


@program(
    lambda rng, shape, dtype: (
        rng.normal(size=(*shape, 4)).astype(dtype),
        rng.normal(size=3).astype(dtype),
    )
)
def rotation_by_quaternions(quaternion, vector):
    q = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
    w, axis = q[:, :1], q[:, 1:]
    t = 2 * np.cross(axis, vector)
    rotated = vector + w * t + np.cross(axis, t)
    assert np.allclose((rotated**2).sum(axis=1), (vector**2).sum(), rtol=1e-3)
    return rotated


@program(
    lambda rng, shape, dtype: (
        rng.uniform(-1, 1, (*shape, 3)).astype(dtype),
        rng.uniform(1, 2, shape).astype(dtype),
    )
)
def inertia_tensor(position, mass):
    center = (mass[:, None] * position).sum(axis=0) / mass.sum()
    r = position - center
    tensor = np.einsum("i,ij,ik->jk", mass, r, r)
    tensor = np.trace(tensor) * np.eye(3, dtype=tensor.dtype) - tensor
    return center, tensor, np.linalg.eigvalsh(tensor)
