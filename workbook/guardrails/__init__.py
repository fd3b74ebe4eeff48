"""Guards: who says stop, and who may do what.

Rows of a table, and the functions behind them.
"""
