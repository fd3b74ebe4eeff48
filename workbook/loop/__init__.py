"""The loop that everybody writes first, the paper's prompts, and its agent.

Nothing here knows a particular model, tool or world.
"""
