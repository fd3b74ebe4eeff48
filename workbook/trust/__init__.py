"""What a run may believe, and what it may do with what it has read."""
