"""A package, so that its Chromium and its JupyterLab end with its last test."""
