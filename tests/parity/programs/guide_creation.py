"""Programs after NumPy's guide: making arrays."""

import numpy as np

from tests.parity.program import normal, program


@program(normal)
def moving_average(x, width=5):
    total = np.cumsum(x)
    total[width:] = total[width:] - total[:-width]
    return total[width - 1 :] / width


@program(normal)
def like_constructors(x):
    zeros, ones = np.zeros_like(x), np.ones_like(x)
    filled = np.full_like(x, 2.5)
    return zeros + ones * filled, zeros, np.empty_like(x).shape
