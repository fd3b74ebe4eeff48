"""Scenarios and engines: playing a run, watching it, laying runs side by side."""
