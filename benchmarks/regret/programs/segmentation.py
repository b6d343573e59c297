"""Segmentation of an image: a mixture of Gaussians fitted by EM, smoothed by a Markov field."""

import numpy as np

from benchmarks.regret.decorate import jit


@jit
def phantom(rng, size):
    y, x = np.mgrid[0:size, 0:size] / size - 0.5
    image = np.full((size, size), 0.2)
    image[(x**2 + y**2) < 0.16] = 0.5
    image[((x - 0.1) ** 2 + (y + 0.1) ** 2) < 0.03] = 0.85
    return image + rng.normal(0, 0.08, image.shape)


@jit
def blur(image, times):
    for _ in range(times):
        padded = np.pad(image, 1, mode="edge")
        image = (
            4 * image + padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
        ) / 8
    return image


@jit
def log_gaussian(values, mean, variance):
    return -0.5 * ((values - mean) ** 2 / variance + np.log(2 * np.pi * variance))


@jit
def log_sum_exp(values, axis):
    highest = values.max(axis=axis, keepdims=True)
    return np.squeeze(highest, axis) + np.log(np.exp(values - highest).sum(axis=axis))


class Mixture:
    def __init__(self, classes):
        self.classes = classes
        self.means = np.linspace(0.1, 0.9, classes)
        self.variances = np.full(classes, 0.02)
        self.shares = np.full(classes, 1 / classes)

    @jit
    def joint(self, values):
        logs = [
            np.log(share) + log_gaussian(values, mean, variance)
            for share, mean, variance in zip(self.shares, self.means, self.variances, strict=True)
        ]
        return np.stack(logs)

    @jit
    def expect(self, values):
        joint = self.joint(values)
        total = log_sum_exp(joint, 0)
        return np.exp(joint - total), total.sum()

    @jit
    def maximize(self, values, chances):
        weights = chances.sum(axis=1)
        self.means = chances @ values / weights
        offsets = values[None, :] - self.means[:, None]
        self.variances = (chances * offsets**2).sum(axis=1) / weights + 1e-6
        self.shares = weights / values.size

    @jit
    def fit(self, values, limit=20, tolerance=1e-3):
        likelihoods = []
        for _ in range(limit):
            chances, likelihood = self.expect(values)
            self.maximize(values, chances)
            if likelihoods and abs(likelihood - likelihoods[-1]) < tolerance:
                break
            likelihoods.append(likelihood)
        return likelihoods


@jit
def agreement(labels, label):
    same = np.zeros(labels.shape)
    for axis in (0, 1):
        for shift in (1, -1):
            same += np.roll(labels, shift, axis=axis) == label
    return same


@jit
def relabel(joint, labels, coupling):
    scores = np.stack([joint[k] + coupling * agreement(labels, k) for k in range(len(joint))])
    return scores.argmax(axis=0)


@jit
def iterate(joint, coupling, limit):
    labels, changes = joint.argmax(axis=0), []
    for _ in range(limit):
        updated = relabel(joint, labels, coupling)
        changes.append((updated != labels).sum())
        labels = updated
        if not changes[-1]:
            break
    return labels, changes


@jit
def sizes(labels, classes):
    return np.bincount(labels.ravel(), minlength=classes)


@jit
def dice(a, b):
    return 2 * np.logical_and(a, b).sum() / (a.sum() + b.sum())


def run():
    rng = np.random.default_rng(6)
    image = blur(phantom(rng, 96), 2)
    mixture = Mixture(3)
    likelihoods = mixture.fit(image.ravel())
    joint = mixture.joint(image.ravel()).reshape(3, *image.shape)
    labels, changes = iterate(joint, 1.5, 10)
    overlap = dice(labels == labels.max(), image > 0.65)
    return float(likelihoods[-1]), int(sizes(labels, 3).max()), float(overlap), len(changes) > 1
