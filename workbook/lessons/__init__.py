"""A file a lesson: what the notebook of that name teaches and has its reader write."""
