"""What a guard is worth, counted in the world: payments that were made, files written.

The experiments of lesson 07. Each plays a scripted scenario on a machine with chosen
guards and looks at the account or the folder, and never at what the answer says.
"""

from workbook.experiments.effects.folder import (
    as_table,
    in_the_folder,
    mends,
    mends_on,
    show_change,
    story,
)
from workbook.experiments.effects.payments import (
    afternoon,
    new_ledger,
    six_cases,
    spellings,
    stopped,
    two_at_once,
)
from workbook.experiments.effects.processes import (
    agent,
    decisions,
    killed_everywhere,
    new_folder,
    paid,
    turns,
    two_processes,
)

__all__ = [
    "afternoon",
    "agent",
    "as_table",
    "decisions",
    "in_the_folder",
    "killed_everywhere",
    "mends",
    "mends_on",
    "new_folder",
    "new_ledger",
    "paid",
    "show_change",
    "six_cases",
    "spellings",
    "stopped",
    "story",
    "turns",
    "two_at_once",
    "two_processes",
]
