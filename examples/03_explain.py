"""Reading what was compiled, what was not, and why."""

import json

import numpy as np

import runmat_jit as runmat


@runmat.jit
def energy(signal):
    spectrum = np.fft.rfft(signal)  # a library call: it runs as it is
    power = spectrum.real**2 + spectrum.imag**2
    return np.sqrt(power.sum())


signal = np.random.default_rng(3).normal(size=4096)
result = energy(signal)

with runmat.disable():
    np.testing.assert_allclose(result, energy(signal), rtol=1e-12)

explanation = energy.explain(signal)
print(explanation)
print(json.dumps(explanation.to_dict(), indent=1, default=str))
