"""Every parity program, warm, against plain Python, at several sizes and with special values."""
