"""Runs shown and counted: logs, tables, plots, drawings, errors by kind."""
