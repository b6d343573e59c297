"""Comparisons of `runmat_jit` with NumPy and with other accelerators of NumPy code."""
