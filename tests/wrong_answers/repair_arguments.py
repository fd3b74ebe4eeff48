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


def _leave(is_left, schema, arguments, aliases):
    """Repair by the package, but leave the values that `is_left` picks."""
    left = {n: v for n, v in arguments.items() if is_left(v)}
    rest = {n: v for n, v in arguments.items() if n not in left}
    result, notes = repair_arguments(schema, rest, aliases)
    return result | left, notes


def takes_the_first(schema, arguments, aliases=None):
    def first(value, kind):
        several = kind == "integer" and isinstance(value, list) and len(value) > 1
        return value[0] if several else value

    return _repair(first, schema, arguments, aliases)


def crashes_on_an_empty_list(schema, arguments, aliases=None):
    for value in arguments.values():
        if isinstance(value, list):
            value[0]
    return repair_arguments(schema, arguments, aliases)


def reads_what_int_reads(schema, arguments, aliases=None):
    def number(value, kind):
        try:
            return int(value) if kind == "integer" and isinstance(value, str) else value
        except ValueError:
            return value

    return _repair(number, schema, arguments, aliases)


def cuts_a_number_to_an_integer(schema, arguments, aliases=None):
    def cut(value, kind):
        return int(value) if kind == "integer" and isinstance(value, float) else value

    return _repair(cut, schema, arguments, aliases)


def knows_no_sign(schema, arguments, aliases=None):
    def has_a_sign(value):
        return isinstance(value, str) and value.strip()[:1] in {"+", "-"}

    return _leave(has_a_sign, schema, arguments, aliases)


def leaves_a_list_of_one(schema, arguments, aliases=None):
    def is_one(value):
        return isinstance(value, list) and len(value) == 1

    return _leave(is_one, schema, arguments, aliases)


def renames_whatever_an_alias_knows(schema, arguments, aliases=None):
    names = {n: (aliases or {}).get(n, n) for n in arguments}
    result, notes = repair_arguments(schema, {names[n]: v for n, v in arguments.items()})
    return result, [f"{n} is called {to}" for n, to in names.items() if n != to] + notes


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


WRONG = {
    takes_the_first: "test_of_several_values_none_is_chosen",
    crashes_on_an_empty_list: "test_what_would_still_be_wrong_stays",
    reads_what_int_reads: "test_what_would_still_be_wrong_stays",
    reads_by_nfkc: "test_what_would_still_be_wrong_stays",
    cuts_a_number_to_an_integer: "test_what_would_still_be_wrong_stays",
    knows_no_sign: "test_text_that_spells_a_number_is_read",
    leaves_a_list_of_one: "test_a_list_of_one_stands_for_its_element",
    renames_whatever_an_alias_knows: "test_a_name_that_is_not_clear_stays",
    reads_the_value_under_its_old_name: "test_a_wrong_name_is_replaced_by_alias",
    every_digit_is_a_number: "test_right_arguments_stay_as_they_are",
    drops_every_quote: "test_right_arguments_stay_as_they_are",
    notes_values_first: "test_a_wrong_name_is_replaced_by_alias",
}
