"""Chemistry: kinetics, titration, spectra and molecular geometry as people write them."""

import re

import numpy as np

from tests.parity.program import program

R = 8.314462618
MASSES = {"H": 1.008, "C": 12.011, "N": 14.007, "O": 15.999}


def concentrations(rng, shape, dtype):
    return (rng.uniform(0.01, 2.0, shape).astype(dtype),)


def molecule(rng, shape, dtype):
    xyz = rng.normal(0, 2, (shape[0], 3)).astype(dtype)
    return xyz, rng.choice(list(MASSES), shape[0])


@program(concentrations, shapes=((4,), (200,)), dtypes=("float64", "float32"))
def arrhenius_rates(activation, temperatures=(280, 300, 350)):
    T = np.asarray(temperatures)[:, None]
    k = 1e10 * np.exp(-activation * 5e4 / (R * T))
    half_life = np.log(2) / k
    slope = np.polyfit(1 / T[:, 0], np.log(k).astype(float), 1)[0]
    return k, half_life[0], slope * -R / 5e4


@program(concentrations, shapes=((3,), (50,)), dtypes=("float64", "float32"))
def consecutive_reactions(a0, k1=0.8, k2=0.3, dt=0.05, steps=20):
    a, b, c = a0.copy(), np.zeros_like(a0), np.zeros_like(a0)
    record = np.empty((steps, 3, a0.size), dtype=a0.dtype)
    for n in range(steps):
        ra, rb = k1 * a * dt, k2 * b * dt
        a -= ra
        b += ra - rb
        c += rb
        record[n] = a, b, c
    balanced = np.allclose(record.sum(axis=1), a0, rtol=1e-4)
    return record, balanced


@program(concentrations, shapes=((6,), (300,)), dtypes=("float64", "float32"))
def michaelis_menten_fit(substrate, v_max=3.0, km=0.5):
    rate = v_max * substrate / (km + substrate)
    design = np.column_stack([np.ones(substrate.size), 1 / substrate])
    (intercept, slope), *_ = np.linalg.lstsq(design, 1 / rate, rcond=None)
    fitted = {"v_max": 1 / intercept, "km": slope / intercept}
    inhibited = [v_max * substrate / (km * (1 + i / 0.2) + substrate) for i in (0.0, 0.1, 0.4)]
    return fitted, np.vstack(inhibited)


@program(concentrations, shapes=((5,), (80,)), dtypes=("float64",))
def ph_by_bisection(acid, ka=1.8e-5, kw=1e-14):
    low, high = np.zeros_like(acid), np.full_like(acid, 14.0)
    while np.max(high - low) > 1e-6:
        mid = (low + high) / 2
        h = 10.0**-mid
        charge = h - kw / h - acid * ka / (ka + h)
        low = np.where(charge > 0, mid, low)
        high = np.where(charge > 0, high, mid)
    return np.round((low + high) / 2, 3)


@program(molecule, shapes=((4,), (30,)), dtypes=("float64", "float32"))
def inertia_tensor(xyz, symbols):
    try:
        m = np.array([MASSES[s] for s in symbols], dtype=xyz.dtype)
    except KeyError as error:
        raise ValueError(f"unknown element {error}") from None
    center = np.average(xyz, axis=0, weights=m)
    r = xyz - center
    tensor = np.einsum("i,ij,ij->", m, r, r) * np.eye(3) - np.einsum("i,ij,ik->jk", m, r, r)
    moments = np.linalg.eigvalsh(tensor)
    gyration = np.sqrt((m * (r**2).sum(axis=1)).sum() / m.sum())
    return moments, gyration, "asymmetric" if np.all(np.diff(moments) > 1e-3) else "symmetric"


@program(molecule, shapes=((5,), (40,)), dtypes=("float64", "float32"))
def lennard_jones_with_cutoff(xyz, symbols, cutoff=5.0, epsilon=0.2, sigma=1.1):
    i, j = np.triu_indices(len(xyz), k=1)
    r = np.linalg.norm(xyz[i] - xyz[j], axis=1)
    near = r < cutoff
    ratio = (sigma / r[near]) ** 6
    energy = 4 * epsilon * (ratio**2 - ratio)
    bonds = [(int(p), int(q)) for p, q in zip(i[r < 1.5], j[r < 1.5])]
    return np.log1p(np.abs(energy)), near.sum(), bonds, symbols[0]


@program(molecule, shapes=((4,), (25,)), dtypes=("float64", "float32"))
def dihedral_angles(xyz, symbols):
    b = np.diff(xyz, axis=0)
    n = np.cross(b[:-1], b[1:])
    unit = n / np.linalg.norm(n, axis=1, keepdims=True)
    along = b[1:-1] / np.linalg.norm(b[1:-1], axis=1)[:, None]
    x = (unit[:-1] * unit[1:]).sum(axis=1)
    y = (np.cross(unit[:-1], unit[1:]) * along).sum(axis=1)
    return np.degrees(np.arctan2(y, x))


def spectrum(rng, shape, dtype):
    wave = np.linspace(400, 700, shape[0])
    absorbance = np.exp(-(((wave - 530) / 40) ** 2)) + 0.02 * rng.random(shape)
    return wave.astype(dtype), absorbance.astype(dtype)


@program(spectrum, shapes=((30,), (400,)), dtypes=("float64", "float32"))
def baseline_and_peak_width(wave, absorbance, degree=1, edge=5):
    ends = np.r_[0:edge, -edge:0]
    baseline = np.polyval(np.polyfit(wave[ends], absorbance[ends], degree), wave)
    corrected = absorbance - baseline
    top = corrected.argmax()
    above = np.flatnonzero(corrected >= corrected[top] / 2)
    width = wave[above[-1]] - wave[above[0]]
    area = np.trapezoid(corrected, wave)
    return corrected, wave[top], width, area


@program(concentrations, shapes=((3,), (9,)), dtypes=("float64", "float32"))
def molar_masses(amounts, formulas=("H2O", "C6H12O6", "NH3")):
    def weigh(formula):
        parts = re.findall(r"([A-Z][a-z]?)(\d*)", formula)
        if not parts:
            raise ValueError(f"no formula: {formula!r}")
        return sum(MASSES[e] * int(n or 1) for e, n in parts)

    molar = np.array([weigh(f) for f in formulas])
    tiled = np.resize(molar, amounts.size)
    grams = amounts * tiled
    fractions = grams / grams.sum()
    return dict(zip(formulas, molar.tolist())), fractions


@program(concentrations, shapes=((4, 4), (12, 12)), dtypes=("float64", "float32"))
def hueckel_energies(coupling, alpha=-11.4, beta=-2.7):
    n = len(coupling)
    ring = np.zeros((n, n), dtype=coupling.dtype)
    ring[np.arange(n), np.arange(n) - 1] = 1
    h = alpha * np.eye(n) + beta * (ring + ring.T)
    h += 0.01 * (coupling + coupling.T)
    levels = np.sort(np.linalg.eigvalsh(h))
    occupied = levels[: n // 2]
    return levels, 2 * occupied.sum(), levels[n // 2] - levels[n // 2 - 1]
