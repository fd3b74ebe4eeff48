"""What listens to a model while it writes."""


class Listener:
    """An `on_text` that keeps what it is told, and says stop after so many pieces."""

    def __init__(self, stop_after=None):
        self.pieces, self.stop_after = [], stop_after

    def __call__(self, text):
        self.pieces.append(text)
        return len(self.pieces) == self.stop_after
