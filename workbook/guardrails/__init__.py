"""Who says stop, and who may do what: guards as rows of a table, and their handlers.

Each guard is a function from values to a value; the machine asks it at one place.
"""
