"""Trust: whether an answer is true to what was found, and what may come in at all."""
