"""Models to ask: the engines know two protocols, `TextModel` and `ChatModel`."""
