"""Astronomy: orbits, photometry, catalogs and spectra as people write them."""

import numpy as np

from tests.parity.program import program, rounded_as_given

C_KM_S = 299792.458
LINES = {"Ha": 6562.8, "Hb": 4861.3, "OIII": 5006.8}
BAND_WIDTHS = {"g": 1400.0, "r": 1300.0, "i": 1500.0}


def anomalies(rng, shape, dtype):
    return rng.uniform(0, 2 * np.pi, shape).astype(dtype), rng.uniform(0, 0.7, shape).astype(dtype)


def fluxes(rng, shape, dtype):
    flux = rng.lognormal(2, 1, shape).astype(dtype)
    return flux, np.sqrt(flux) / 10


def light_curve(rng, shape, dtype):
    time = np.sort(rng.uniform(0, 20, shape)).astype(dtype)
    flux = 1 + 0.1 * np.sin(2 * np.pi * time / 2.7) + rng.normal(0, 0.02, shape)
    return time, flux.astype(dtype)


@program(anomalies, shapes=((6,), (300,)), dtypes=("float64", "float32"))
def solve_kepler(mean, eccentricity):
    E = mean + eccentricity * np.sin(mean)
    for _ in range(12):
        E = E - (E - eccentricity * np.sin(E) - mean) / (1 - eccentricity * np.cos(E))
    residual = np.abs(E - eccentricity * np.sin(E) - mean).max()
    near, far = np.sqrt(1 - eccentricity), np.sqrt(1 + eccentricity)
    true = 2 * np.arctan2(far * np.sin(E / 2), near * np.cos(E / 2))
    return E, true, bool(residual < 1e-4)


@program(fluxes, shapes=((8,), (400,)), dtypes=("float64", "float32"), amplified=rounded_as_given)
def magnitudes_with_errors(flux, sigma, zero_point=25.0):
    flux[::4] *= -1
    with np.errstate(invalid="ignore"):
        mag = zero_point - 2.5 * np.log10(flux)
    err = 2.5 / np.log(10) * sigma / np.abs(flux)
    limit = zero_point - 2.5 * np.log10(3 * sigma)
    faint = ~np.isfinite(mag)
    mag[faint] = limit[faint]
    return np.stack([mag, err]), faint


@program(light_curve, shapes=((15,), (90,)), dtypes=("float64", "float32"))
def phase_dispersion(time, flux, periods=np.linspace(1.5, 4.0, 4), bins=5):
    thetas = []
    for period in periods:
        phase = (time / period) % 1.0
        which = np.minimum((phase * bins).astype(int), bins - 1)
        spread = 0.0
        for b in range(bins):
            inside = flux[which == b]
            if inside.size > 1:
                spread += inside.var(ddof=1) * (inside.size - 1)
        thetas.append(spread / (flux.size - bins))
    return np.array(thetas) / flux.var(ddof=1), len(thetas)


@program(light_curve, shapes=((12,), (150,)), dtypes=("float64",))
def lomb_scargle(time, flux):
    omega = 2 * np.pi * np.linspace(0.1, 1.0, 20)
    y = flux - flux.mean()
    double = 2 * omega[:, None] * time
    tau = np.arctan2(np.sin(double).sum(1), np.cos(double).sum(1)) / (2 * omega)
    arg = omega[:, None] * (time - tau[:, None])
    c, s = np.cos(arg), np.sin(arg)
    power = 0.5 * ((c @ y) ** 2 / (c**2).sum(1) + (s @ y) ** 2 / (s**2).sum(1)) / y.var()
    return power, omega[power.argmax()] / (2 * np.pi)


def image(rng, shape, dtype):
    y, x = np.indices(shape)
    star = 500 * np.exp(-((x - shape[1] / 2) ** 2 + (y - shape[0] / 2.5) ** 2) / 4)
    return ((star + rng.poisson(20, shape)).astype(dtype),)


@program(image, shapes=((11, 11), (32, 40)), dtypes=("float64", "float32"))
def aperture_photometry(frame, radius=3.0, annulus=(4.0, 5.5)):
    peak = np.unravel_index(frame.argmax(), frame.shape)
    yy, xx = np.ogrid[: frame.shape[0], : frame.shape[1]]
    r = np.sqrt((yy - peak[0]) ** 2 + (xx - peak[1]) ** 2)
    inside = r <= radius
    ring = (r >= annulus[0]) & (r < annulus[1])
    sky = np.median(frame[ring]) if ring.any() else 0.0
    net = (frame - sky)[inside].sum()
    weights = np.where(inside, frame - sky, 0)
    centroid = tuple((weights * axis).sum() / weights.sum(dtype=float) for axis in (yy, xx))
    return net, sky, centroid


@program(image, shapes=((6, 9), (20, 30)), dtypes=("float64", "uint16"))
def sigma_clipped_background(frame, kappa=2.5):
    data = frame.ravel()
    size = -1
    rounds = 0
    while data.size != size and rounds < 20:
        size = data.size
        center, spread = np.median(data), data.std()
        data = data[np.abs(data - center) <= kappa * spread]
        rounds += 1
    return data.mean(), data.std(), size, rounds


def catalogs(rng, shape, dtype):
    ra = rng.uniform(150, 151, shape)
    dec = rng.uniform(2, 3, shape)
    shift = rng.normal(0, 1e-4, (2, *shape))
    return tuple(part.astype(dtype) for part in (ra, dec, ra + shift[0], dec + shift[1]))


@program(catalogs, shapes=((5,), (60,)), dtypes=("float64",))
def cross_match(ra1, dec1, ra2, dec2, tolerance_arcsec=2.0):
    def unit(ra, dec):
        a, d = np.deg2rad(ra), np.deg2rad(dec)
        return np.array([np.cos(d) * np.cos(a), np.cos(d) * np.sin(a), np.sin(d)]).T

    u, v = unit(ra1, dec1), unit(ra2, dec2)
    pairs = {}
    for i, star in enumerate(u):
        separation = np.linalg.norm(v - star, axis=1)
        j = separation.argmin()
        if np.rad2deg(2 * np.arcsin(separation[j] / 2)) * 3600 <= tolerance_arcsec:
            pairs[i] = int(j)
    return pairs, len(pairs) / len(u)


@program(fluxes, shapes=((20,), (600,)), dtypes=("float64", "float32"))
def redshifted_lines(flux, sigma, z=0.05):
    wave = np.linspace(4800, 7200, flux.size)
    found = {}
    for name, rest in LINES.items():
        center = rest * (1 + z)
        window = np.abs(wave - center) < 150
        if not window.any():
            continue
        weight = 1 / sigma[window] ** 2
        found[name] = np.average(wave[window], weights=flux[window] * weight)
    velocity = {name: C_KM_S * (w / LINES[name] - 1) for name, w in found.items()}
    return found, velocity


@program(fluxes, shapes=((3, 6), (3, 80)), dtypes=("float64", "float32"))
def weighted_coadd(frames, sigma, **bands):
    bands = bands or dict(zip(BAND_WIDTHS, frames))
    widths = np.array([BAND_WIDTHS[name] for name in bands])[:, None]
    stack = np.array([bands[name] for name in bands]) / widths
    inverse = 1 / sigma**2
    mean = (stack * inverse).sum(axis=0) / inverse.sum(axis=0)
    chi = ((stack - mean) / sigma).std(axis=0)
    colors = -2.5 * np.log10(stack[0] / stack[1])
    return mean, chi, colors, stack.dtype.str


@program(fluxes, shapes=((4,), (500,)), dtypes=("float64", "float32"), amplified=rounded_as_given)
def planck_law(flux, sigma):
    wave = np.geomspace(1e-7, 3e-6, flux.size, dtype=flux.dtype)
    temperature = 3000 + 100 * flux
    x = 0.0143877 / (wave * temperature)
    x = np.minimum(x, 80)
    radiance = 1.191e-16 / wave.astype(np.float64) ** 5 / np.expm1(x)
    return radiance, np.log(radiance).max()
