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


class Like:
    """Equal to what fits; in a failed check its words are what was expected."""

    def __init__(self, words, fits):
        self.words, self.fits = words, fits

    def __eq__(self, other):
        return self.fits(other)

    __hash__ = None

    def __repr__(self):
        return self.words
