"""Dynamic shapes: one trace for every length."""
