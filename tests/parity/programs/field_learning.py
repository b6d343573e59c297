"""Machine learning: layers, losses, metrics and training loops as people write them."""

import math
from dataclasses import dataclass

import numpy as np

from tests.parity.program import program


def features(rng, shape, dtype):
    x = rng.normal(0, 1, shape).astype(dtype)
    y = (x @ rng.normal(0, 1, shape[1]) > 0).astype(np.int64)
    return x, y


def batch(rng, shape, dtype):
    return (rng.normal(0, 1, shape).astype(dtype),)


def logits_and_labels(rng, shape, dtype):
    return rng.normal(0, 3, shape).astype(dtype), rng.integers(0, shape[1], shape[0])


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


@program(logits_and_labels, shapes=((4, 3), (100, 10)), dtypes=("float64", "float32"))
def cross_entropy_and_gradient(logits, labels, smoothing=0.1):
    n, classes = logits.shape
    p = softmax(logits)
    loss = -np.log(p[np.arange(n), labels] + 1e-12).mean()
    onehot = np.eye(classes, dtype=logits.dtype)[labels]
    target = onehot * (1 - smoothing) + smoothing / classes
    return loss, (p - target) / n


@program(features, shapes=((20, 3), (200, 5)), dtypes=("float64", "float32"))
def logistic_regression(x, y, lr=0.5, epochs=8):
    w, b = np.zeros(x.shape[1], dtype=x.dtype), 0.0
    losses = []
    for epoch in range(epochs):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        error = p - y
        w -= lr * (x.T @ error / len(y)).astype(x.dtype)
        b -= lr * error.mean()
        losses.append(-np.mean(y * np.log(p + 1e-9) + (1 - y) * np.log(1 - p + 1e-9)))
        if epoch > 5 and losses[-1] > losses[0]:
            raise RuntimeError("diverged")
    return w, b, losses


class Dense:
    def __init__(self, n_in, n_out, rng):
        self.W = rng.normal(0, 1 / np.sqrt(n_in), (n_in, n_out))
        self.b = np.zeros(n_out)

    def __call__(self, x):
        self.x = x
        self.pre = x @ self.W + self.b
        return np.maximum(self.pre, 0)

    def backward(self, upstream, lr):
        grad = upstream * (self.pre > 0)
        down = grad @ self.W.T
        self.W -= lr * self.x.T @ grad
        self.b -= lr * grad.sum(axis=0)
        return down


@program(batch, shapes=((8, 4), (64, 6)), dtypes=("float64", "float32"))
def two_layer_network(x, hidden=7, steps=3):
    rng = np.random.default_rng(0)
    layers = [Dense(x.shape[1], hidden, rng), Dense(hidden, 2, rng)]
    target = np.stack([x.sum(axis=1), x.max(axis=1)], axis=1)
    history = []
    for _ in range(steps):
        out = x
        for layer in layers:
            out = layer(out)
        history.append(((out - target) ** 2).mean())
        grad = 2 * (out - target) / out.size
        for layer in reversed(layers):
            grad = layer.backward(grad, lr=0.05)
    return [(layer.W, layer.b) for layer in layers], history


@program(batch, shapes=((3, 8), (32, 48)), dtypes=("float64", "float32"))
def layer_norm_gelu(x, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = ((x - mu) ** 2).mean(-1, keepdims=True)
    normed = (x - mu) / np.sqrt(var + eps)
    return 0.5 * normed * (1 + np.tanh(math.sqrt(2 / math.pi) * (normed + 0.044715 * normed**3)))


@program(batch, shapes=((2, 5, 8), (3, 16, 24), (2, 4, 6)), dtypes=("float64", "float32"))
def causal_self_attention(x, heads=4):
    b, t, d = x.shape
    if d % heads:
        raise ValueError(f"{d} channels do not divide among {heads} heads")
    split = x.reshape(b, t, heads, d // heads).transpose(0, 2, 1, 3)
    scores = split @ split.transpose(0, 1, 3, 2) / np.sqrt(d // heads)
    mask = np.triu(np.ones((t, t), dtype=bool), k=1)
    scores = np.where(mask, -np.inf, scores)
    weights = softmax(scores)
    mixed = np.einsum("bhts,bhsd->bhtd", weights, split)
    return mixed.transpose(0, 2, 1, 3).reshape(b, t, d), weights[0, 0]


@program(batch, shapes=((12, 2), (60, 3)), dtypes=("float64", "float32"))
def k_means(points, k=3, max_iter=3):
    centers = points[:k].copy()
    for iteration in range(max_iter):
        distances = np.linalg.norm(points[:, None] - centers[None], axis=2)
        labels = distances.argmin(axis=1)
        members = [points[labels == j] for j in range(k)]
        moved = np.array([m.mean(axis=0) if len(m) else c for m, c in zip(members, centers)])
        if np.allclose(moved, centers, atol=1e-3):
            break
        centers = moved
    inertia = (distances.min(axis=1) ** 2).sum()
    return labels, centers, inertia, iteration


@dataclass
class Adam:
    lr: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    t: int = 0
    m: object = 0.0
    v: object = 0.0

    def update(self, param, grad):
        self.t += 1
        self.m = self.beta1 * self.m + (1 - self.beta1) * grad
        self.v = self.beta2 * self.v + (1 - self.beta2) * grad**2
        m_hat = self.m / (1 - self.beta1**self.t)
        v_hat = self.v / (1 - self.beta2**self.t)
        param -= self.lr * m_hat / (np.sqrt(v_hat) + 1e-8)


@program(batch, shapes=((5,), (300,)), dtypes=("float64", "float32"))
def rosenbrock_with_adam(theta):
    optimizer = Adam(lr=0.02)
    values = []
    for _ in range(6):
        a, b = theta[:-1], theta[1:]
        values.append((100 * (b - a**2) ** 2 + (1 - a) ** 2).sum())
        grad = np.zeros_like(theta)
        grad[:-1] = -400 * a * (b - a**2) - 2 * (1 - a)
        grad[1:] += 200 * (b - a**2)
        optimizer.update(theta, grad)
    return values, optimizer.t, optimizer.m


@program(logits_and_labels, shapes=((12, 3), (200, 6)), dtypes=("float64", "float32"))
def classification_report(logits, labels):
    predicted = logits.argmax(axis=1)
    k = logits.shape[1]
    confusion = np.zeros((k, k), dtype=int)
    np.add.at(confusion, (labels, predicted), 1)
    hits = np.diag(confusion)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.nan_to_num(hits / confusion.sum(axis=0))
        recall = np.nan_to_num(hits / confusion.sum(axis=1))
        f1 = np.nan_to_num(2 * precision * recall / (precision + recall))
    for name, score in zip("abcdef", f1):
        print(f"{name}: f1={score:.3f}")
    return confusion, precision, recall, f1.mean()


def scores(rng, shape, dtype):
    truth = rng.random(shape) > 0.6
    truth.flat[0], truth.flat[1] = True, False
    return truth, (rng.random(shape) + 0.3 * truth).astype(dtype)


@program(scores, shapes=((10,), (400,)), dtypes=("float64", "float32"))
def roc_auc(truth, score):
    order = np.argsort(-score, kind="mergesort")
    hits = truth[order]
    tpr = np.concatenate([[0.0], np.cumsum(hits) / hits.sum()])
    fpr = np.concatenate([[0.0], np.cumsum(~hits) / (~hits).sum()])
    return np.trapezoid(tpr, fpr), tpr, fpr


@program(batch, shapes=((15, 4), (120, 7)), dtypes=("float64", "float32"))
def principal_components(x, keep=2):
    centered = x - x.mean(axis=0)
    u, s, vt = np.linalg.svd(centered, full_matrices=False)
    signs = np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])
    scores = (u * s * signs)[:, :keep]
    explained = s**2 / (s**2).sum()
    return scores, explained, int(np.searchsorted(explained.cumsum(), 0.5)) + 1


@program(batch, shapes=((1, 2, 6, 6), (2, 3, 12, 10)), dtypes=("float64", "float32"))
def max_pool_and_dropout(x, rate=0.25, seed=3):
    n, c, h, w = x.shape
    pooled = x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))
    keep = np.random.default_rng(seed).random(pooled.shape) >= rate
    return pooled * keep / (1 - rate), keep.mean()
