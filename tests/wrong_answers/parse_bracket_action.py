"""Plausible wrong answers to `parse_bracket_action`, with the tests that catch them."""

import re


def _read(pattern, text):
    match = re.match(pattern, text)
    return (match[1].lower(), match[2].strip()) if match else None


def stops_at_the_first_closing_bracket(text):
    return _read(r"\s*(\w+)\[([^\]]*)\]", text)


def runs_to_the_last_closing_bracket_of_the_line(text):
    return _read(r"\s*(\w+)\[(.*)\]", text)


def runs_to_the_bracket_where_the_counts_agree(text):
    match = re.match(r"\s*(\w+)\[(.*)\]", text, re.DOTALL)
    if match is None or match[2].count("[") != match[2].count("]"):
        return stops_at_the_first_closing_bracket(text)
    return match[1].lower(), match[2].strip()


def prefers_to_finish(text):
    last = re.search(r"finish\[([^\]]*)\]", text, re.IGNORECASE)
    return ("finish", last[1].strip()) if last else _counted(text)


def _counted(text):
    verb, _, rest = text.partition("[")
    depth = 1
    for at, character in enumerate(rest):
        depth += (character == "[") - (character == "]")
        if depth == 0 and verb.strip().isidentifier():
            return verb.strip().lower(), rest[:at].strip()
    return None


def wants_an_argument(text):
    return _read(r"\s*(\w+)\[(.+)\]", text)


def makes_everything_small(text):
    return _read(r"\s*(\w+)\[([^\]]*)\]", text.lower())


WRONG = {
    stops_at_the_first_closing_bracket: "test_brackets_may_be_nested",
    runs_to_the_last_closing_bracket_of_the_line: "test_the_first_of_two_actions_counts",
    runs_to_the_bracket_where_the_counts_agree: "test_the_first_of_two_actions_counts",
    prefers_to_finish: "test_the_first_of_two_actions_counts",
    wants_an_argument: "test_an_empty_argument_is_an_argument",
    makes_everything_small: "test_the_argument_keeps_its_letters",
}
