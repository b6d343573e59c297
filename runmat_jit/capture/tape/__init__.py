"""The tape: entries, memory and geometry, and the graph of a stretch of it."""
