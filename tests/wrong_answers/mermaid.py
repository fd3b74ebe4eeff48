"""Plausible wrong answers to `mermaid`, each with words of its failure."""

from workbook.fsm.table import TERMINAL


def _draw(table, highlight=None, *, ends=True, start=None, labels=True):
    lines = ["stateDiagram-v2", f"[*] --> {start or table.start}"]
    for rule in table.rules:
        label = f" : {rule.event}" if labels else ""
        lines.append(f"{rule.source} --> {rule.target}{label}")
    if ends:
        lines += [f"{state} --> [*]" for state in table.states if state in TERMINAL]
    if highlight:
        lines += ["classDef now fill:#ffd54f", f"class {highlight} now"]
    return "\n".join(lines)


def forgets_the_ends(table, highlight=None):
    return _draw(table, highlight, ends=False)


def always_starts_in_think(table, highlight=None):
    return _draw(table, highlight, start="THINK")


def lights_nothing(table, highlight=None):
    return _draw(table)


def lights_none(table, highlight=None):
    return _draw(table, highlight or "None")


def leaves_out_the_labels(table, highlight=None):
    return _draw(table, highlight, labels=False)


WRONG = {
    forgets_the_ends: "from each end of this table",
    always_starts_in_think: "whichever state that is",
    lights_nothing: "live or an end",
    lights_none: "no state gets a class",
    leaves_out_the_labels: "labelled with its event",
}
