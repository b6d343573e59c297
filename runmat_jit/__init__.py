"""A tracing JIT compiler for plain NumPy code and for MATLAB files."""
