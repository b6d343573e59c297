"""Geoscience: distances, terrain, climate and hydrology as people write them."""

import math

import numpy as np

from tests.parity.program import program

EARTH_RADIUS_KM = 6371.0088
LAYERS = (("sand", 1.6), ("clay", 2.0), ("rock", 2.7))


def places(rng, shape, dtype):
    lat = rng.uniform(-80, 80, shape).astype(dtype)
    lon = rng.uniform(-180, 180, shape).astype(dtype)
    return lat, lon


def terrain(rng, shape, dtype):
    return (np.cumsum(rng.normal(0, 5, shape), axis=0).astype(dtype),)


def daily(rng, shape, dtype):
    return (np.maximum(rng.normal(2, 6, shape), 0).astype(dtype),)


@program(places, shapes=((5,), (90,)), dtypes=("float64", "float32"))
def haversine_matrix(lat, lon):
    phi, lam = np.radians(lat), np.radians(lon)
    dphi = phi[:, None] - phi[None, :]
    dlam = lam[:, None] - lam[None, :]
    a = np.sin(dphi / 2) ** 2 + np.cos(phi)[:, None] * np.cos(phi) * np.sin(dlam / 2) ** 2
    d = 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(np.minimum(a, 1)))
    np.fill_diagonal(d, np.inf)
    nearest = d.argmin(axis=1)
    return nearest, d.min(axis=1)


@program(terrain, shapes=((6, 7), (40, 35)), dtypes=("float64", "float32"))
def hillshade(dem, azimuth=315.0, altitude=45.0, cell=30.0):
    dy, dx = np.gradient(dem, cell)
    slope = np.arctan(np.hypot(dx, dy))
    aspect = np.arctan2(-dx, dy)
    az, alt = math.radians(360 - azimuth + 90), math.radians(altitude)
    shade = math.sin(alt) * np.cos(slope) + math.cos(alt) * np.sin(slope) * np.cos(az - aspect)
    return (255 * shade.clip(0, 1)).astype(np.float32), np.degrees(slope).mean()


@program(terrain, shapes=((5, 5), (16, 18)), dtypes=("float64", "float32"))
def steepest_descent_walk(dem):
    y, x = (int(v) for v in np.unravel_index(np.argmax(dem), dem.shape))
    path = [(y, x)]
    while True:
        y0, y1 = max(y - 1, 0), min(y + 2, dem.shape[0])
        x0, x1 = max(x - 1, 0), min(x + 2, dem.shape[1])
        window = dem[y0:y1, x0:x1]
        j, i = divmod(int(window.argmin()), window.shape[1])
        if window[j, i] >= dem[y, x]:
            break
        y, x = y0 + j, x0 + i
        path.append((y, x))
    return path, dem[path[0]] - dem[path[-1]]


@program(daily, shapes=((60,), (120,)), dtypes=("float64", "float32"))
def monthly_climatology(rain, days=30):
    months = len(rain) // days
    table = rain[: months * days].reshape(months, days)
    wet = table > 1.0
    longest = 0
    run = 0
    for day in rain > 1.0:
        run = run + 1 if day else 0
        longest = max(longest, run)
    anomalies = table.sum(axis=1) - table.sum(axis=1).mean()
    return table.max(axis=1), wet.mean(axis=1), anomalies, longest


@program(daily, shapes=((12,), (90,)), dtypes=("float64", "float32"))
def bucket_model(rain, capacity=40.0, evaporation=1.5):
    storage, runoff, levels = 10.0, [], []
    for amount in rain:
        storage = max(storage + float(amount) - evaporation, 0.0)
        overflow = max(storage - capacity, 0.0)
        storage -= overflow
        runoff.append(overflow)
        levels.append(storage)
    runoff = np.array(runoff)
    return runoff, np.array(levels), runoff.sum() / max(float(rain.sum(dtype=float)), 1e-9)


@program(daily, shapes=((10,), (2000,)), dtypes=("float64", "float32"))
def beaufort_scale(speed):
    conditions = [speed < 0.5, speed < 3.4, speed < 8.0, speed < 17.2]
    force = np.select(conditions, [0, 2, 4, 7], default=12)
    wind = (speed * 3.6) ** 0.16
    chill = np.where(speed > 1.3, 13.12 + 0.6215 * -5 - (11.37 + 0.3965 * 5) * wind, -5.0)
    found, counts = np.unique(force, return_counts=True)
    return force, chill, dict(zip(found.tolist(), counts.tolist()))


@program(places, shapes=((6,), (500,)), dtypes=("float64", "float32"))
def web_mercator_tiles(lat, lon, zoom=5):
    n = 2**zoom
    xtile = ((lon + 180) / 360 * n).astype(int) % n
    phi = np.deg2rad(lat)
    merc = np.log(np.tan(phi) + 1 / np.cos(phi))
    ytile = np.floor((1 - merc / np.pi) / 2 * n).astype(np.int64)
    keys = xtile * n + ytile
    tiles, index = np.unique(keys, return_index=True)
    return tiles, lat[index], merc


@program(terrain, shapes=((20,), (200,)), dtypes=("float64", "float32"))
def layered_travel_time(depths, velocity=1.5):
    depths = np.abs(depths) + 1
    total = 0
    profile = {}
    for (name, density), chunk in zip(LAYERS, np.array_split(depths, len(LAYERS))):
        v = velocity * density**0.25 * 1e3
        profile[name] = chunk / v
        total += profile[name].sum()
    return total, profile


def ocean(rng, shape, dtype):
    temperature = rng.uniform(-1, 28, shape).astype(dtype)
    temperature[..., 0] = -999
    return temperature, rng.uniform(30, 37, shape).astype(dtype)


@program(ocean, shapes=((3, 4), (10, 25)), dtypes=("float64", "float32"))
def sea_water_density(temperature, salinity, missing=-999):
    valid = temperature != missing
    t = np.where(valid, temperature, np.nan)
    rho = 999.84 + 0.0679 * t - 0.0091 * t**2 + 1e-4 * t**3 + (0.8245 - 0.0041 * t) * salinity
    profile = np.nanmean(rho, axis=0) if valid.all() else np.nanmean(rho[:, 1:], axis=0)
    stable = np.all(np.diff(profile) >= 0)
    return rho, profile, bool(stable)


def quakes(rng, shape, dtype):
    return (rng.exponential(0.6, shape).astype(dtype) + 2,)


@program(quakes, shapes=((15,), (800,)), dtypes=("float64", "float32"))
def gutenberg_richter(magnitude, step=0.25):
    edges = np.arange(2.0, 6.0, step)
    cumulative = np.array([(magnitude >= m).sum() for m in edges])
    use = cumulative > 0
    slope, intercept = np.polyfit(edges[use], np.log10(cumulative[use]), 1)
    aki = np.log10(np.e) / (magnitude.mean() - 2.0)
    energy = 10 ** (1.5 * magnitude + 4.8)
    return -slope, intercept, aki, energy.max() / energy.sum()
