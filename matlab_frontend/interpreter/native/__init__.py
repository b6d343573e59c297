"""Loops over numbers as those that :mod:`runmat_jit.loops` knows, and when they run natively."""
