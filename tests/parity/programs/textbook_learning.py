"""Machine learning from scratch: regression, classification, clustering."""

import numpy as np

from tests.parity.program import of_products, program


def labeled(rng, shape, dtype):
    """Features and two classes that overlap a little."""
    n = shape[0]
    labels = rng.integers(0, 2, n)
    features = rng.normal(size=(n, 3)) + 1.5 * labels[:, None]
    return features.astype(dtype), labels


def several_classes(rng, shape, dtype):
    n = shape[0]
    labels = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    centers = np.array([[0, 0], [4, 0], [0, 4]])
    return (centers[labels] + rng.normal(size=(n, 2))).astype(dtype), labels


def regression_data(rng, shape, dtype):
    n = shape[0]
    x = rng.normal(size=(n, 4))
    y = x @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.1 * rng.normal(size=n)
    return x.astype(dtype), y.astype(dtype)


@program(regression_data)
def gradient_descent(x, y, rate=0.05):
    w = np.zeros(x.shape[1], dtype=x.dtype)
    losses = []
    for _ in range(15):
        error = x @ w - y
        losses.append(0.5 * np.mean(error**2))
        w -= rate * x.T @ error / len(y)
    return w, np.array(losses)


@program(regression_data, amplified=of_products)
def stochastic_gradient_with_momentum(x, y):
    rng = np.random.default_rng(3)
    w, velocity = np.zeros(4, x.dtype), np.zeros(4, x.dtype)
    for _ in range(2):
        order = rng.permutation(len(y))
        for batch in np.array_split(order, 4):
            gradient = x[batch].T @ (x[batch] @ w - y[batch]) / len(batch)
            velocity = 0.9 * velocity - 0.02 * gradient
            w = w + velocity
    return w


@program(regression_data)
def adam(x, y):
    w = np.full(x.shape[1], 0.1, dtype=x.dtype)
    m, v = np.zeros_like(w), np.zeros_like(w)
    beta1, beta2 = 0.9, 0.999
    for t in range(1, 11):
        g = 2 * x.T @ (x @ w - y) / y.size
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        w = w - 0.1 * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + 1e-8)
    return w


@program(regression_data)
def ridge_path(x, y):
    gram, moment = x.T @ x, x.T @ y
    return {
        strength: np.linalg.solve(gram + strength * np.eye(4, dtype=x.dtype), moment)
        for strength in (0.1, 1.0, 10.0)
    }


@program(regression_data)
def lasso_by_coordinates(x, y, penalty=0.1):
    n, features = x.shape
    w = np.zeros(features, dtype=x.dtype)
    scale = (x**2).sum(axis=0) / n
    for _ in range(5):
        for j in range(features):
            residual = y - x @ w + x[:, j] * w[j]
            rho = x[:, j] @ residual / n
            w[j] = np.sign(rho) * max(abs(rho) - penalty, 0) / scale[j]
    return w, np.count_nonzero(w)


@program(labeled)
def logistic_regression(x, labels):
    x = np.hstack([np.ones((len(x), 1), dtype=x.dtype), x])
    y = labels.astype(x.dtype)
    w = np.zeros(x.shape[1], dtype=x.dtype)
    for _ in range(20):
        p = 1 / (1 + np.exp(-(x @ w)))
        w += 0.5 * x.T @ (y - p) / len(y)
    p = np.clip(1 / (1 + np.exp(-(x @ w))), 1e-6, 1 - 1e-6)
    loss = -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))
    return w, loss


@program(labeled)
def perceptron(x, labels):
    signs = np.where(labels == 1, 1, -1)
    w, b = np.zeros(x.shape[1]), 0.0
    mistakes = []
    for _ in range(2):
        wrong = 0
        for features, sign in zip(x[:20], signs[:20]):
            if sign * (features @ w + b) <= 0:
                w = w + sign * features
                b += float(sign)
                wrong += 1
        mistakes.append(wrong)
        if wrong == 0:
            break
    return w, b, mistakes


@program(labeled)
def hinge_loss_and_subgradient(x, labels):
    y = 2.0 * labels - 1
    w = np.linspace(-0.5, 0.5, x.shape[1])
    margins = y * (x @ w)
    loss = np.maximum(0, 1 - margins).mean() + 0.05 * w @ w
    active = margins < 1
    gradient = -(y[active, None] * x[active]).sum(axis=0) / len(y) + 0.1 * w
    return loss, gradient, int(active.sum())


@program(several_classes)
def k_means(x, labels):
    centers = x[:3].copy()
    for _ in range(3):
        distance = ((x[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
        nearest = distance.argmin(axis=1)
        for k in range(len(centers)):
            members = x[nearest == k]
            if len(members) > 0:
                centers[k] = members.mean(axis=0)
    return centers, np.bincount(nearest, minlength=3)


@program(several_classes)
def nearest_neighbors_vote(x, labels, k=3):
    cross = x @ x.T
    squares = np.diag(cross)
    distance = squares[:, None] + squares[None, :] - 2 * cross
    np.fill_diagonal(distance, np.inf)
    neighbors = np.argsort(distance, axis=1, kind="stable")[:, :k]
    votes = np.apply_along_axis(np.bincount, 1, labels[neighbors], minlength=3)
    return (votes.argmax(axis=1) == labels).mean()


@program(several_classes)
def gaussian_naive_bayes(x, labels):
    classes = np.unique(labels)
    scores = np.empty((len(x), len(classes)), dtype=x.dtype)
    for column, label in enumerate(classes):
        rows = x[labels == label]
        mean, variance = rows.mean(axis=0), rows.var(axis=0) + 0.1
        likelihood = -0.5 * (np.log(2 * np.pi * variance) + (x - mean) ** 2 / variance)
        scores[:, column] = likelihood.sum(axis=1) + np.log(len(rows) / len(x))
    top = scores.max(axis=1, keepdims=True)
    return np.exp(scores - top) / np.exp(scores - top).sum(axis=1, keepdims=True)


@program(several_classes)
def softmax_classifier(x, labels):
    one_hot = np.eye(3, dtype=x.dtype)[labels]
    w = np.zeros((2, 3), dtype=x.dtype)
    b = np.zeros(3, dtype=x.dtype)
    for _ in range(8):
        logits = x @ w + b
        logits -= logits.max(axis=1, keepdims=True)
        p = np.exp(logits)
        p /= p.sum(axis=1, keepdims=True)
        delta = (p - one_hot) / len(x)
        w -= 0.3 * x.T @ delta
        b -= 0.3 * delta.sum(axis=0)
    return w, b, -np.log(p[np.arange(len(x)), labels]).mean()


@program(labeled)
def two_layer_network(x, labels):
    rng = np.random.default_rng(0)
    w1 = (0.3 * rng.normal(size=(3, 5))).astype(x.dtype)
    w2 = (0.3 * rng.normal(size=(5, 1))).astype(x.dtype)
    b1, b2 = np.zeros(5, x.dtype), np.zeros(1, x.dtype)
    y = labels[:, None].astype(x.dtype)
    for _ in range(5):
        hidden = np.tanh(x @ w1 + b1)
        out = 1 / (1 + np.exp(-(hidden @ w2 + b2)))
        d_out = (out - y) / len(x)
        d_hidden = d_out @ w2.T * (1 - hidden**2)
        w2 -= 0.5 * hidden.T @ d_out
        b2 -= 0.5 * d_out.sum(axis=0)
        w1 -= 0.5 * x.T @ d_hidden
        b1 -= 0.5 * d_hidden.sum(axis=0)
    return {"w1": w1, "b1": b1, "w2": w2, "b2": b2, "loss": np.mean((out - y) ** 2)}


@program(labeled)
def batch_normalization(x, _labels, gamma=1.5, beta=0.2):
    mean, variance = x.mean(axis=0), x.var(axis=0)
    inverse = 1 / np.sqrt(variance + 1e-5)
    normalized = (x - mean) * inverse
    out = gamma * normalized + beta
    upstream = np.cos(out)
    d_normalized = upstream * gamma
    n = len(x)
    d_x = (inverse / n) * (
        n * d_normalized
        - d_normalized.sum(axis=0)
        - normalized * (d_normalized * normalized).sum(axis=0)
    )
    return out, d_x, (upstream * normalized).sum(axis=0), upstream.sum(axis=0)


@program(regression_data)
def principal_components(x, _y):
    centered = x - x.mean(axis=0)
    covariance = centered.T @ centered / (len(x) - 1)
    values, vectors = np.linalg.eigh(covariance)
    order = np.argsort(values)[::-1]
    values = values[order]
    scores = centered @ vectors[:, order[:2]]
    return values / values.sum(), np.abs(scores)


@program(several_classes)
def confusion_matrix_and_scores(x, labels):
    predicted = np.where(x[:, 0] > 2, 1, np.where(x[:, 1] > 2, 2, 0))
    matrix = np.zeros((3, 3), dtype=int)
    np.add.at(matrix, (labels, predicted), 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        precision = np.diag(matrix) / matrix.sum(axis=0)
        recall = np.diag(matrix) / matrix.sum(axis=1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return matrix, matrix.trace() / matrix.sum(), np.nan_to_num(f1)


@program(labeled)
def area_under_roc(x, labels):
    score = x.sum(axis=1)
    order = np.argsort(-score, kind="mergesort")
    hits = labels[order] == 1
    positives, negatives = hits.sum(), (~hits).sum()
    if positives == 0 or negatives == 0:
        return None
    tpr = np.concatenate([[0], np.cumsum(hits) / positives])
    fpr = np.concatenate([[0], np.cumsum(~hits) / negatives])
    return float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2))


@program(regression_data)
def standardize_and_split(x, y, test_share=0.25):
    count = int(len(x) * (1 - test_share))
    train, test = x[:count], x[count:]
    mean, scale = train.mean(axis=0), train.std(axis=0, ddof=1)
    print(f"training on {count} of {len(x)} rows")
    return (train - mean) / scale, (test - mean) / scale, y[:count], y[count:]


@program(regression_data)
def attention(x, _y):
    """One head of scaled dot-product attention with a causal mask."""
    n = min(len(x), 24)
    q, k, v = x[:n], np.roll(x[:n], 1, axis=1), x[:n] ** 2
    scores = q @ k.T / np.sqrt(q.shape[-1]).astype(x.dtype)
    scores[np.triu_indices(n, 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights @ v
