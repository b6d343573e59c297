"""K-means with seeding by distances, several starts, silhouettes, and a palette of an image."""

import numpy as np

from benchmarks.regret.decorate import jit


@jit
def squared_distances(points, centers):
    cross = points @ centers.T
    own = (points**2).sum(axis=1)[:, None]
    theirs = (centers**2).sum(axis=1)[None, :]
    return np.maximum(own - 2 * cross + theirs, 0)


@jit
def seeds(points, count, rng):
    centers = [points[rng.integers(len(points))]]
    for _ in range(count - 1):
        nearest = squared_distances(points, np.array(centers)).min(axis=1)
        chances = nearest / nearest.sum()
        chosen = np.searchsorted(np.cumsum(chances), rng.random())
        centers.append(points[min(chosen, len(points) - 1)])
    return np.array(centers)


@jit
def assign(points, centers):
    return squared_distances(points, centers).argmin(axis=1)


@jit
def means(points, labels, count):
    sums = np.zeros((count, points.shape[1]))
    np.add.at(sums, labels, points)
    counts = np.bincount(labels, minlength=count)
    return sums / np.maximum(counts, 1)[:, None]


@jit
def inertia(points, centers, labels):
    return ((points - centers[labels]) ** 2).sum()


class KMeans:
    def __init__(self, clusters, starts=3, limit=30, tolerance=1e-5):
        self.clusters, self.starts = clusters, starts
        self.limit, self.tolerance = limit, tolerance
        self.centers, self.score, self.iterations = None, np.inf, 0

    @jit
    def fit_once(self, points, rng):
        centers = seeds(points, self.clusters, rng)
        for number in range(self.limit):
            labels = assign(points, centers)
            moved = means(points, labels, self.clusters)
            shift = np.abs(moved - centers).max()
            centers = moved
            if shift < self.tolerance:
                break
        self.iterations += number + 1
        return centers, inertia(points, centers, assign(points, centers))

    @jit
    def fit(self, points, rng):
        for _ in range(self.starts):
            centers, score = self.fit_once(points, rng)
            if score < self.score:
                self.centers, self.score = centers, score
        return self

    @jit
    def predict(self, points):
        return assign(points, self.centers)


@jit
def silhouette(points, labels, count):
    distances = np.sqrt(squared_distances(points, points))
    within = np.zeros(len(points))
    between = np.full(len(points), np.inf)
    for cluster in range(count):
        members = labels == cluster
        if not members.any():
            continue
        mean = distances[:, members].mean(axis=1)
        within[members] = mean[members]
        between[~members] = np.minimum(between[~members], mean[~members])
    return ((between - within) / np.maximum(between, within)).mean()


@jit
def blobs(rng, count, clusters):
    centers = rng.uniform(-8, 8, (clusters, 2))
    return np.concatenate([center + rng.normal(0, 0.7, (count, 2)) for center in centers])


@jit
def quantize(image, model):
    pixels = image.reshape(-1, 3)
    return model.centers[model.predict(pixels)].reshape(image.shape)


@jit
def picture(rng, size):
    y, x = np.mgrid[0:size, 0:size] / size
    return np.stack([x, y, 0.5 + 0.5 * np.sin(6 * x * y)], axis=2) + rng.normal(
        0, 0.02, (size, size, 3)
    )


def run():
    rng = np.random.default_rng(5)
    points = blobs(rng, 150, 5)
    model = KMeans(5).fit(points, rng)
    score = silhouette(points, model.predict(points), 5)
    image = picture(rng, 64)
    palette = KMeans(8, starts=1).fit(image.reshape(-1, 3), rng)
    return float(model.score), float(score), float(np.abs(quantize(image, palette) - image).mean())
