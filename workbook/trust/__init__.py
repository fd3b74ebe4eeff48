"""Trust: what a source supports, and what a text from outside may do."""
