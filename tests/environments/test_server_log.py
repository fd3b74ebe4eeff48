"""The log of a night: far too long, and what matters stands at its beginning."""

from workbook.environments.server_log import night_log, read_log
from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry


def test_the_registry_hands_on_all_of_a_long_log():
    """it has 200,000 characters, its cause in the first hundred; no limit cuts it"""
    seen = ToolRegistry([read_log()]).run(ToolCall("ReadLog", {"which": "it"}, "c"))
    assert seen.text() == night_log()
    assert len(seen.text()) == 200_000
    assert seen.text().index("the disk of db-3 was full") < 100
