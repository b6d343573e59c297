"""What rewritten code calls: calls, attributes, outside state, text, containers."""
