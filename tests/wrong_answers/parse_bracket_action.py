"""Plausible wrong answers to `parse_bracket_action`, with words of their failures."""

import re


def stops_at_the_first_closing_bracket(text):
    match = re.match(r"\s*(\w+)\[([^\]]*)\]", text)
    return (match[1].lower(), match[2].strip()) if match else None


def runs_to_the_last_closing_bracket(text):
    match = re.match(r"\s*(\w+)\[(.*)\]", text, re.DOTALL)
    return (match[1].lower(), match[2].strip()) if match else None


def wants_an_argument(text):
    match = re.match(r"\s*(\w+)\[(.+)\]", text)
    return (match[1].lower(), match[2].strip()) if match else None


def makes_everything_small(text):
    match = re.match(r"\s*(\w+)\[([^\]]*)\]", text.lower())
    return (match[1], match[2].strip()) if match else None


WRONG = {
    stops_at_the_first_closing_bracket: "closes the first one",
    runs_to_the_last_closing_bracket: "another action with it, is dropped",
    wants_an_argument: "with an empty argument",
    makes_everything_small: "the argument is not changed",
}
