"""Light in a box with a block of glass: Maxwell's equations on Yee's grid, with absorbing edges."""

import numpy as np

from benchmarks.regret.decorate import jit

COURANT = 0.5


class Grid:
    def __init__(self, rows, columns):
        self.shape = rows, columns
        self.ez = np.zeros((rows, columns))
        self.hx = np.zeros((rows, columns - 1))
        self.hy = np.zeros((rows - 1, columns))
        self.permittivity = np.ones((rows, columns))
        self.damping = np.ones((rows, columns))
        self.time = 0

    @jit
    def add_block(self, top, left, height, width, permittivity):
        self.permittivity[top : top + height, left : left + width] = permittivity

    @jit
    def add_edges(self, depth, strength):
        rows, columns = self.shape
        ramp = strength * ((depth - np.arange(depth)) / depth) ** 3
        for axis, extent in enumerate((rows, columns)):
            profile = np.zeros(extent)
            profile[:depth] = ramp
            profile[-depth:] = ramp[::-1]
            line = profile[:, None] if axis == 0 else profile[None, :]
            self.damping = self.damping / (1 + line)

    @jit
    def update_magnetic(self):
        self.hx -= COURANT * (self.ez[:, 1:] - self.ez[:, :-1])
        self.hy += COURANT * (self.ez[1:, :] - self.ez[:-1, :])

    @jit
    def update_electric(self):
        curl = self.hy[1:, 1:-1] - self.hy[:-1, 1:-1] - self.hx[1:-1, 1:] + self.hx[1:-1, :-1]
        self.ez[1:-1, 1:-1] += COURANT / self.permittivity[1:-1, 1:-1] * curl
        self.ez *= self.damping

    @jit
    def excite(self, row, column, width, delay):
        self.ez[row, column] += np.exp(-(((self.time - delay) / width) ** 2))

    @jit
    def step(self, source):
        self.update_magnetic()
        self.update_electric()
        self.excite(*source)
        self.time += 1

    @jit
    def energy(self):
        electric = np.sum(self.permittivity * self.ez**2)
        return 0.5 * (electric + np.sum(self.hx**2) + np.sum(self.hy**2))


@jit
def probe(grid, points):
    return [grid.ez[row, column] for row, column in points]


@jit
def simulate(rows, columns, steps):
    grid = Grid(rows, columns)
    grid.add_block(rows // 2, columns // 2, rows // 5, columns // 5, 2.25)
    grid.add_edges(10, 0.3)
    points = [(rows // 4, columns // 4), (rows // 2 + 5, columns // 2 + 5)]
    seen, energies = [], []
    for number in range(steps):
        grid.step((rows // 3, columns // 3, 8.0, 24.0))
        seen.append(probe(grid, points))
        if number % 10 == 0:
            energies.append(grid.energy())
    return np.array(seen), np.array(energies)


@jit
def spectrum(signal):
    window = np.hanning(len(signal))
    return np.abs(np.fft.rfft(signal * window)) ** 2


def run():
    seen, energies = simulate(120, 140, 350)
    power = spectrum(seen[:, 0])
    return float(np.argmax(power)), float(energies.max()), float(np.abs(seen[:, 1]).max())
