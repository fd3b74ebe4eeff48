"""What a lesson measures by playing scenarios, a file a notebook."""
