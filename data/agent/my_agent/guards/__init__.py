"""Guards that config.toml switches on: answers that are audited, and untrusted text."""

from pathlib import Path

DATA = Path(__file__).parent / "data"
