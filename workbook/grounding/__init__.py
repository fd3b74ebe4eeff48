"""What a run may believe: claims, their sources, a threshold, and memory."""
