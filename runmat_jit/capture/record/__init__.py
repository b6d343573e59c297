"""Runs a function once and writes down what it did: the tape."""
