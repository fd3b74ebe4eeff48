"""Plausible wrong answers to `repair_arguments`, with the tests that catch them."""

import unicodedata

from workbook.tools.repair import repair_arguments


def _renamed(arguments, aliases, notes):
    result = {}
    for given, value in arguments.items():
        name = (aliases or {}).get(given, given)
        if name != given:
            notes.append(f"{given} is called {name}")
        result[name] = value
    return result


def _repaired(schema, result, notes, better_of):
    for name, value in list(result.items()):
        kind = schema["properties"].get(name, {}).get("type")
        better = better_of(value, kind)
        if better is not value and (type(better), better) != (type(value), value):
            result[name] = better
            notes.append(f"{name}: {value!r} read as {better!r}")


def takes_the_first(schema, arguments, aliases=None):
    """Takes the first of several values, and says nothing about the others."""
    notes = []
    result = _renamed(arguments, aliases, notes)

    def better_of(value, kind):
        if kind and kind != "array" and isinstance(value, list) and value:
            value = value[0]
        if kind == "integer" and isinstance(value, str) and value.strip("+- ").isdecimal():
            return int(value)
        return value

    _repaired(schema, result, notes, better_of)
    return result, notes


def in_place(schema, arguments, aliases=None):
    """Repairs the very dict that it was given."""
    notes = []
    for given in list(arguments):
        name = (aliases or {}).get(given)
        if name:
            arguments[name] = arguments.pop(given)
            notes.append(f"{given} is called {name}")
    return arguments, notes


def nfkc(schema, arguments, aliases=None):
    """Makes full-width digits plain with NFKC, which turns 2² into 22."""
    notes = []
    result = _renamed(arguments, aliases, notes)

    def better_of(value, kind):
        if kind == "integer" and isinstance(value, str):
            plain = unicodedata.normalize("NFKC", value).strip().strip("'\"")
            if plain.lstrip("+-").isdecimal():
                return int(plain)
        return value

    _repaired(schema, result, notes, better_of)
    return result, notes


def every_digit_is_a_number(schema, arguments, aliases=None):
    """Makes a number of every text of digits, whatever the schema asks for."""
    notes = []
    result = _renamed(arguments, aliases, notes)

    def better_of(value, kind):
        if isinstance(value, str) and value.strip().isdecimal():
            return int(value)
        return value

    _repaired(schema, result, notes, better_of)
    return result, notes


def drops_every_quote(schema, arguments, aliases=None):
    """Drops the quotes around a text, also where they may be meant."""
    repaired, notes = repair_arguments(schema, arguments, aliases)
    for name, value in repaired.items():
        if isinstance(value, str) and value[:1] + value[-1:] in ('""', "''", "「」"):
            repaired[name] = value[1:-1]
            notes.append(f"{name}: {value!r} read as {value[1:-1]!r}")
    return repaired, notes


WRONG = {
    takes_the_first: "test_of_two_names_for_one_argument_none_is_taken",
    in_place: "test_of_two_names_for_one_argument_none_is_taken",
    nfkc: "test_text_that_is_no_integer_stays_text",
    every_digit_is_a_number: "test_right_arguments_stay_as_they_are",
    drops_every_quote: "test_quotes_that_help_nothing_stay",
}
