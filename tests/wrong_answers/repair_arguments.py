"""Plausible wrong answers to `repair_arguments`, with the tests that catch them."""

import unicodedata

from workbook.runtime.arguments import repair_arguments


def _repair(better, schema, arguments, aliases):
    """Repair by the package, after each value that is not right is read by `better`."""
    result, notes = repair_arguments(schema, arguments, aliases)
    for name, value in result.items():
        kind = schema["properties"].get(name, {}).get("type")
        if (read := better(value, kind)) != value:
            result[name] = read
            notes.append(f"{name}: {value!r} read as {read!r}")
    return result, notes


def takes_the_first(schema, arguments, aliases=None):
    def first(value, kind):
        return value[0] if kind == "integer" and isinstance(value, list) and value else value

    return _repair(first, schema, arguments, aliases)


def reads_raised_digits(schema, arguments, aliases=None):
    """NFKC turns 2⁵ into 25; of squares and cubes it was thought."""

    def plain(value, kind):
        text = unicodedata.normalize("NFKC", str(value))
        raised = {"²", "³"} & {*str(value)}
        return int(text) if kind == "integer" and text.isdecimal() and not raised else value

    return _repair(plain, schema, arguments, aliases)


def reads_by_nfkc(schema, arguments, aliases=None):
    """Reads whatever `int` reads once NFKC has made the digits plain: 2⁵ becomes 25."""

    def plain(value, kind):
        text = unicodedata.normalize("NFKC", value) if isinstance(value, str) else ""
        return int(text) if kind == "integer" and text.strip().isdecimal() else value

    return _repair(plain, schema, arguments, aliases)


def reads_the_value_under_its_old_name(schema, arguments, aliases=None):
    """Repairs the values first, when a wrong name has no schema yet."""
    values, notes = repair_arguments(schema, arguments)
    without_types = {"properties": dict.fromkeys(schema["properties"], {})}
    renamed, of_names = repair_arguments(without_types, values, aliases)
    return renamed, of_names + notes


def every_digit_is_a_number(schema, arguments, aliases=None):
    def number(value, kind):
        return int(value) if isinstance(value, str) and value.isdecimal() else value

    return _repair(number, schema, arguments, aliases)


def drops_every_quote(schema, arguments, aliases=None):
    def bare(value, kind):
        return value.strip("'\"") if isinstance(value, str) else value

    return _repair(bare, schema, arguments, aliases)


def notes_values_first(schema, arguments, aliases=None):
    result, notes = repair_arguments(schema, arguments, aliases)
    return result, sorted(notes, key=lambda note: " is called " in note)


def unpacks_every_list_of_one(schema, arguments, aliases=None):
    flat = {n: v[0] if isinstance(v, list) and len(v) == 1 else v for n, v in arguments.items()}
    return repair_arguments(schema, flat, aliases)


def in_place(schema, arguments, aliases=None):
    """Repairs the dict that it was given, and takes any name that an alias has."""
    notes = []
    for given in list(arguments):
        if name := (aliases or {}).get(given):
            arguments[name] = arguments.pop(given)
            notes.append(f"{given} is called {name}")
    return arguments, notes


WRONG = {
    takes_the_first: "test_of_several_values_none_is_chosen",
    reads_raised_digits: "test_what_would_still_be_wrong_stays",
    reads_by_nfkc: "test_what_would_still_be_wrong_stays",
    reads_the_value_under_its_old_name: "test_a_wrong_name_is_replaced_by_alias",
    every_digit_is_a_number: "test_right_arguments_stay_as_they_are",
    drops_every_quote: "test_right_arguments_stay_as_they_are",
    notes_values_first: "test_a_wrong_name_is_replaced_by_alias",
    unpacks_every_list_of_one: "test_a_name_that_is_not_clear_stays",
    in_place: "test_a_name_that_is_not_clear_stays",
}
