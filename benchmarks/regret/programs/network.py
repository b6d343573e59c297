"""A classifier of two hidden layers, written as classes, trained with Adam on two spirals."""

import numpy as np

from benchmarks.regret.decorate import jit


class Dense:
    def __init__(self, rng, inputs, outputs):
        self.weights = rng.normal(0, np.sqrt(2 / inputs), (inputs, outputs))
        self.bias = np.zeros(outputs)
        self.gradients = {}

    @jit
    def forward(self, x):
        self.x = x
        return x @ self.weights + self.bias

    @jit
    def backward(self, gradient):
        self.gradients["weights"] = self.x.T @ gradient
        self.gradients["bias"] = gradient.sum(axis=0)
        return gradient @ self.weights.T


class Relu:
    gradients = {}

    @jit
    def forward(self, x):
        self.mask = x > 0
        return x * self.mask

    @jit
    def backward(self, gradient):
        return gradient * self.mask


class Adam:
    def __init__(self, rate=0.01, beta1=0.9, beta2=0.999, epsilon=1e-8):
        self.rate, self.beta1, self.beta2, self.epsilon = rate, beta1, beta2, epsilon
        self.moments, self.count = {}, 0

    @jit
    def update(self, key, value, gradient):
        m, v = self.moments.get(key, (np.zeros_like(value), np.zeros_like(value)))
        m = self.beta1 * m + (1 - self.beta1) * gradient
        v = self.beta2 * v + (1 - self.beta2) * gradient**2
        self.moments[key] = m, v
        m_hat = m / (1 - self.beta1**self.count)
        v_hat = v / (1 - self.beta2**self.count)
        return value - self.rate * m_hat / (np.sqrt(v_hat) + self.epsilon)

    @jit
    def step(self, layers):
        self.count += 1
        for number, layer in enumerate(layers):
            for name, gradient in layer.gradients.items():
                value = getattr(layer, name)
                setattr(layer, name, self.update((number, name), value, gradient))


class Network:
    def __init__(self, rng, sizes):
        self.layers = []
        for inputs, outputs in zip(sizes, sizes[1:], strict=False):
            self.layers += [Dense(rng, inputs, outputs), Relu()]
        self.layers.pop()

    @jit
    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    @jit
    def backward(self, gradient):
        for layer in reversed(self.layers):
            gradient = layer.backward(gradient)


@jit
def softmax(logits):
    shifted = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


@jit
def cross_entropy(logits, labels):
    chances = softmax(logits)
    rows = np.arange(len(labels))
    loss = -np.log(chances[rows, labels] + 1e-12).mean()
    gradient = chances.copy()
    gradient[rows, labels] -= 1
    return loss, gradient / len(labels)


@jit
def spirals(rng, points):
    t = np.linspace(0.2, 1, points)
    angle = 3 * np.pi * t
    arms = [(t * np.cos(angle + k * np.pi), t * np.sin(angle + k * np.pi)) for k in range(2)]
    x = np.concatenate([np.stack(arm, axis=1) for arm in arms])
    return x + rng.normal(0, 0.02, x.shape), np.repeat(np.arange(2), points)


@jit
def batches(rng, count, size):
    order = rng.permutation(count)
    return [order[start : start + size] for start in range(0, count, size)]


@jit
def train(network, optimizer, rng, x, labels, epochs, size):
    losses = []
    for _ in range(epochs):
        total = 0.0
        for rows in batches(rng, len(x), size):
            loss, gradient = cross_entropy(network.forward(x[rows]), labels[rows])
            network.backward(gradient)
            optimizer.step(network.layers)
            total += loss * len(rows)
        losses.append(total / len(x))
    return losses


@jit
def accuracy(network, x, labels):
    return (network.forward(x).argmax(axis=1) == labels).mean()


def run():
    rng = np.random.default_rng(1)
    x, labels = spirals(rng, 150)
    network = Network(rng, (2, 32, 32, 2))
    losses = train(network, Adam(), rng, x, labels, epochs=25, size=50)
    return float(np.mean(losses[-3:])), float(losses[0])
