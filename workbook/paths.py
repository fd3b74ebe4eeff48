"""Where things are: the checkout, its data and templates, the folders of the user."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]  # installed with `pip install -e .`
DATA = ROOT / "data"


def user_data() -> Path:
    """Return where progress is kept: `WORKBOOK_DATA`, or the user's data folder."""
    return _chosen("WORKBOOK_DATA", "user_data_dir")


def user_cache() -> Path:
    """Return where the weights are kept: `WORKBOOK_CACHE`, or the user's cache."""
    return _chosen("WORKBOOK_CACHE", "user_cache_dir")


def _chosen(variable: str, usual: str) -> Path:
    if chosen := os.environ.get(variable):
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(getattr(platformdirs, usual)("react-workbook"))
