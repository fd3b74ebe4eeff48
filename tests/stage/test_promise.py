"""What the stage offers to a lesson's first cell."""

import subprocess
import sys

NAMES = "be_the_model, load, gallery, play, player, on_own_model, real_model"
HEAVY = {"pandas", "matplotlib", "ipywidgets", "langchain_core", "jinja2"}


def test_one_line_begins_a_lesson_and_costs_little():
    """The names come from one line, and none of the heavy packages with them"""
    told = f"from workbook.stage import {NAMES}\n" * 2 + "import sys\n"  # run twice
    told += f"assert all(map(callable, ({NAMES})))\nprint(*{HEAVY} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True)
    assert (run.stdout.strip(), run.stderr) == ("", "")
