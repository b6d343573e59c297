"""Whole programs, as people write them: every function and method is decorated."""
