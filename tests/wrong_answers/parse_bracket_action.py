"""Plausible wrong answers to `parse_bracket_action`, with the tests that catch them."""

import re


def _read(pattern, text):
    match = re.match(pattern, text)
    return (match[1].lower(), match[2].strip()) if match else None


def stops_at_the_first_closing_bracket(text):
    return _read(r"\s*(\w+)\[([^\]]*)\]", text)


def runs_to_the_last_closing_bracket_of_the_line(text):
    return _read(r"\s*(\w+)\[(.*)\]", text)


def wants_an_argument(text):
    return _read(r"\s*(\w+)\[(.+)\]", text)


def makes_everything_small(text):
    return _read(r"\s*(\w+)\[([^\]]*)\]", text.lower())


WRONG = {
    stops_at_the_first_closing_bracket: "test_brackets_may_be_nested",
    runs_to_the_last_closing_bracket_of_the_line: "test_what_follows_the_bracket_is_dropped",
    wants_an_argument: "test_an_empty_argument_is_an_argument",
    makes_everything_small: "test_the_argument_keeps_its_letters",
}
