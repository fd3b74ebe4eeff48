"""Asking more than once: samples, votes, and when they agree."""
