"""For the one in front of the class: a folder of notebooks, graded."""
