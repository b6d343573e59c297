"""Contests on a GPU: `python -m benchmarks.gpu`."""
