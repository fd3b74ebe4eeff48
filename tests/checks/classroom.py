"""What a class hands in, for tests: notebooks, and the tables that are made of them."""

import csv
import json

LESSON = "00_start_here"
RIGHT = """
def who_writes(label):
    return "runtime" if label == "Observation" else "model"
"""
STUB = '''
def who_writes(label: str) -> str:
    """Say who writes the line with this label: "model" or "runtime"."""
    raise NotImplementedError("your code here")

who_writes = check(who_writes)
'''


def write_cells(path, *sources, **more):
    """Write a notebook of code cells, and return its path."""
    cells = [{"cell_type": "code", "source": each, **more} for each in sources]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"nbformat": 4, "cells": cells}), encoding="utf-8")
    return path


def rows_of(path):
    """Return the rows of a table, each as a dictionary."""
    return [*csv.DictReader(path.read_text(encoding="utf-8-sig").splitlines())]
