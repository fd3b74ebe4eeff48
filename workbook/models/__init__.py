"""Models to ask: one that plays a script, one that runs here, and any hosted one.

The engines know two protocols, `TextModel` and `ChatModel`, in `base`. `choice` finds
a model by its name; LangChain is imported by the modules that need it alone.
"""
