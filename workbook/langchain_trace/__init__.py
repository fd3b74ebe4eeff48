"""What LangChain says to the model, made visible.

A callback handler writes any LangChain run as trace events; what is in a prompt, how it
grows and who spoke to whom are then read from the trace.
"""
