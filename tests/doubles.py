"""Test doubles that a learner can read: a failed check shows the call with them."""


class _Named:
    def __init__(self, name, function):
        self.name, self.function = name, function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __repr__(self):
        return f"<{self.name}>"


def named(name, function):
    """Return a callable like the function whose repr is its name."""
    return _Named(name, function)
