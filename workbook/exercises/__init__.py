"""Exercises: what to write, and `check`, which runs the package's own tests on it."""
