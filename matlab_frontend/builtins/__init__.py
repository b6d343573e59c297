"""Builtin functions by category."""
