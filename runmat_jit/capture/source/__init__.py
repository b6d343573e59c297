"""From a function to the same function with hooks."""
