"""MATLAB programs as they are written, each with its Python version beside it."""
