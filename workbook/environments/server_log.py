"""A log of a night that is far too long: what matters stands at its beginning."""

from typing import Any

from workbook.runtime.tools import Tool

CHARS = 200_000
BEGINNING = """02:13 The shop takes its last order of the night.
02:14 The shop stops: the disk of db-3 was full."""


def night_log() -> str:
    """Return the log, `CHARS` characters long: a sentence a line, the cause above."""
    jobs = (f"02:15 Job {n:05} of the backup ended well." for n in range(CHARS // 40))
    return "\n".join([BEGINNING, *jobs])[:CHARS]


def read_log() -> Tool:
    """Return the tool `ReadLog`. Its limit is far above what a model can read."""
    about = (
        "Reads one log per call, all of it. There is one, of last night. "
        'Right: {"which": "last night"}. Wrong: {"which": ["db-1", "db-2"]}.'
    )
    which = {"type": "string", "maxLength": 100}
    schema = {"properties": {"which": which}, "required": ["which"]}
    limits: dict[str, Any] = {"timeout_s": None, "max_output_chars": 1_000_000}
    return Tool("ReadLog", about, schema, _run, **limits)


def _run(which: str) -> dict[str, str]:
    return {"result": night_log()}


TOOLS = {"ReadLog": read_log}
