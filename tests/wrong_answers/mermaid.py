"""Plausible wrong answers to `mermaid`, each with the test that must catch it."""



def _draw(table, highlight=None, *, ends=True, start=None, labels=True):
    lines = ["stateDiagram-v2", f"[*] --> {start or table.start}"]
    for rule in table.rules:
        label = f" : {rule.event}" if labels else ""
        lines.append(f"{rule.source} --> {rule.target}{label}")
    if ends:
        lines += [f"{state} --> [*]" for state in table.states if state in table.ends]
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
    forgets_the_ends: "test_an_arrow_leads_out_of_each_end",
    always_starts_in_think: "test_the_start_is_the_tables_own",
    lights_nothing: "test_one_state_is_lit",
    lights_none: "test_without_a_highlight_nothing_is_lit",
    leaves_out_the_labels: "test_every_row_is_an_arrow",
}
