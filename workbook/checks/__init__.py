"""Exercises: what they ask, an answer as text, its tests, grades and parts."""
