"""Comparisons of `runmat_jit` with NumPy and with other accelerators of NumPy code.

They measure what calls cost once a function is compiled, which is done at the first call here
unless the environment asks otherwise; ``bench --only regret`` measures how functions come to that.
"""

import os

os.environ.setdefault("RUNMAT_COMPILE", "first")
