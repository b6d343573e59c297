"""Runs programs: statements, expressions, references, calls."""
