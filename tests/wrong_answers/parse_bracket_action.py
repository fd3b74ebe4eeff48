"""Plausible wrong answers to `parse_bracket_action`, with the tests that catch them."""

import re


def _read(pattern, text):
    match = re.match(pattern, text)
    return (match[1].lower(), match[2].strip()) if match else None


def _counted(text):
    verb, _, rest = text.partition("[")
    depth = 1
    for at, character in enumerate(rest):
        depth += (character == "[") - (character == "]")
        if depth == 0 and verb.strip().isidentifier():
            return verb.strip().lower(), rest[:at].strip()
    return None


def keeps_the_verb_as_it_is(text):
    read = _counted(text)
    return read and (text.partition("[")[0].strip(), read[1])


def makes_everything_small(text):
    return _counted(text.lower())


def stops_at_the_first_closing_bracket(text):
    return _read(r"\s*(\w+)\s*\[([^\]]*)\]", text)


def runs_to_the_last_closing_bracket_of_the_line(text):
    return _read(r"\s*(\w+)\s*\[(.*)\]", text)


def wants_nothing_after_the_bracket(text):
    return _counted(text) if text.rstrip().endswith("]") else None


def prefers_to_finish(text):
    last = re.search(r"finish\[([^\]]*)\]", text, re.IGNORECASE)
    return ("finish", last[1].strip()) if last else _counted(text)


def wants_an_argument(text):
    read = _counted(text)
    return read if read and read[1] else None


def finds_an_action_anywhere(text):
    found = re.search(r"\w+\s*\[.*", text, re.DOTALL)
    return _counted(found[0]) if found else None


WRONG = {
    keeps_the_verb_as_it_is: "test_the_verb_comes_in_any_case",
    makes_everything_small: "test_the_argument_keeps_its_letters",
    stops_at_the_first_closing_bracket: "test_brackets_may_be_nested",
    runs_to_the_last_closing_bracket_of_the_line: "test_what_follows_the_bracket_is_dropped",
    wants_nothing_after_the_bracket: "test_what_follows_the_bracket_is_dropped",
    prefers_to_finish: "test_what_follows_the_bracket_is_dropped",
    wants_an_argument: "test_an_empty_argument_is_an_argument",
    finds_an_action_anywhere: "test_anything_else_is_no_action",
}
