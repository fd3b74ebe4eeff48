"""The log of a night: far too long, and what matters stands at its beginning."""

from workbook.environments.server_log import CHARS, night_log, read_log
from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry


def test_the_log_is_as_long_as_it_says():
    """It has 200,000 characters, and its cause stands in the first hundred."""
    log = night_log()
    assert len(log) == CHARS == 200_000
    assert log.index("the disk of db-3 was full") < 100


def test_the_registry_hands_all_of_it_on():
    """The tool's own limit is above it: what is too long is the reader's to say."""
    seen = ToolRegistry([read_log()]).run(ToolCall("ReadLog", {"which": "it"}, "c"))
    assert seen.text() == night_log()
