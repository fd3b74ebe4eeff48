"""What a product costs in the end."""


def price(listed: float, off: float, on_top: float) -> float:
    """Return the price: first `off` percent are taken off, then `on_top` are added."""
    return listed * (1 - off / 100 + on_top / 100)
