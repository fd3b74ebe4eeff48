"""What LangChain says to the model, made visible.

A callback handler writes any LangChain run as trace events; the rest reads the trace.
"""
