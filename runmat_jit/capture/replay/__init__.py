"""Repeats what a tape says without Python: keys, guards, trees, steps."""
