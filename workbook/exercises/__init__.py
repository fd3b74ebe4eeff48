"""Exercises: what there is to write, and how it is checked in a notebook.

`check` runs the package's own unit tests on a learner's function.
"""
