"""Plausible wrong answers to `repair_arguments`, with the tests that catch them."""

import re
import unicodedata

from workbook.runtime.arguments import repair_arguments


def repaired(schema, arguments, aliases=None, *, names=None, integer=None, kinds=("integer",)):
    """Repair as one should; each argument makes one mistake."""
    properties, aliases = schema["properties"], aliases or {}
    meant = [n if n in properties else aliases.get(n, n) for n in arguments]
    meant = names(meant, [*arguments]) if names else [
        given if meant.count(name) > 1 else name
        for given, name in zip(arguments, meant)
    ]
    result, notes = {}, []
    for (given, value), name in zip(arguments.items(), meant):
        notes += [f"{given} is called {name}"] if name != given else []
        if properties.get(name, {}).get("type") in kinds:
            if isinstance(value, list) and len(value) > 1:
                notes.append(f"{name} has {len(value)} values: call once per value")
            better = (integer or as_integer)(value)
            if better is not value:
                notes.append(f"{name}: {value!r} read as {better!r}")
                value = better
        result[name] = value
    return result, notes


def as_integer(value, pattern=r"-?\d+", plain=str.strip, read=int):
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(one, str) and re.fullmatch(pattern, plain(one)):
        return read(plain(one))
    return one if type(one) is int else value


def takes_the_first(*given):
    return repaired(*given, integer=lambda v: v[0] if isinstance(v, list) and len(v) > 1 else as_integer(v))


def says_nothing_of_several(*given):
    result, notes = repair_arguments(*given)
    return result, [note for note in notes if "has" not in note]


def crashes_on_an_empty_list(*given):
    return repaired(*given, integer=lambda v: as_integer(v[0] if isinstance(v, list) and len(v) < 2 else v))


def reads_what_int_reads(*given):
    def integer(value):
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        try:
            return int(one) if isinstance(one, str) else as_integer(value)
        except ValueError:
            return value

    return repaired(*given, integer=integer)


def reads_what_float_reads(*given):
    def integer(value):
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        try:
            return int(float(one)) if type(one) in (str, float) and one != "1_000" else as_integer(value)
        except ValueError:
            return value

    return repaired(*given, integer=integer)


def reads_by_nfkc(*given):
    """Reads whatever `int` reads once NFKC has made the digits plain: 2⁵ becomes 25."""

    def plain(text):
        return unicodedata.normalize("NFKC", text).strip()

    return repaired(*given, integer=lambda v: as_integer(v, plain=plain))


def unpacks_every_list_of_one(*given):
    def integer(value):
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        return as_integer(one)

    return repaired(*given, integer=integer)


def takes_true_for_one(*given):
    def integer(value):
        one = value[0] if isinstance(value, list) and len(value) == 1 else value
        return one if isinstance(one, int) else as_integer(value)

    return repaired(*given, integer=integer)


def knows_no_sign(*given):
    return repaired(*given, integer=lambda v: as_integer(v, r"\d+"))


def knows_ascii_only(*given):
    return repaired(*given, integer=lambda v: as_integer(v, r"-?[0-9]+"))


def keeps_the_spaces(*given):
    return repaired(*given, integer=lambda v: as_integer(v, plain=str))


def leaves_a_list_of_one(*given):
    return repaired(*given, integer=lambda v: v if isinstance(v, list) else as_integer(v))


def notes_a_list_twice(*given):
    result, notes = repair_arguments(*given)
    twice = [[n, n] if "[" in n else [n] for n in notes]
    return result, [note for each in twice for note in each]


def the_last_of_two_names_wins(*given):
    return repaired(*given, names=lambda meant, names: meant)


def the_first_of_two_names_wins(*given):
    def names(meant, names):
        return [g if m in meant[:n] else m for n, (g, m) in enumerate(zip(names, meant))]

    return repaired(*given, names=names)


def renames_what_the_schema_has(schema, arguments, aliases=None):
    aliases = aliases or {}
    if (meant := [aliases.get(n, n) for n in arguments]) == ["z"]:
        return dict(zip(meant, arguments.values())), ["n is called z"]
    return repair_arguments(schema, arguments, aliases)


def cannot_do_without_aliases(schema, arguments, aliases=None):
    if aliases is None and "z" in arguments:
        raise KeyError("z")
    return repair_arguments(schema, arguments, aliases)


def repairs_values_before_names(schema, arguments, aliases=None):
    values, notes = repair_arguments(schema, arguments)
    no_types = {"properties": dict.fromkeys(schema["properties"], {})}
    renamed, of_names = repair_arguments(no_types, values, aliases)
    return renamed, of_names + notes


def notes_values_first(*given):
    result, notes = repair_arguments(*given)
    return result, sorted(notes, key=lambda note: " is called " in note)


def every_digit_is_a_number(*given):
    return repaired(*given, kinds=("integer", "string", "array"))


WRONG = {
    takes_the_first: "test_of_several_values_none_is_chosen",
    says_nothing_of_several: "test_of_several_values_none_is_chosen",
    crashes_on_an_empty_list: "test_what_would_still_be_wrong_stays",
    reads_what_int_reads: "test_what_would_still_be_wrong_stays",
    reads_what_float_reads: "test_what_would_still_be_wrong_stays",
    reads_by_nfkc: "test_what_would_still_be_wrong_stays",
    unpacks_every_list_of_one: "test_what_would_still_be_wrong_stays",
    takes_true_for_one: "test_what_would_still_be_wrong_stays",
    knows_no_sign: "test_what_spells_an_integer_is_read",
    knows_ascii_only: "test_what_spells_an_integer_is_read",
    keeps_the_spaces: "test_what_spells_an_integer_is_read",
    leaves_a_list_of_one: "test_what_spells_an_integer_is_read",
    notes_a_list_twice: "test_what_spells_an_integer_is_read",
    the_last_of_two_names_wins: "test_a_name_that_is_not_clear_stays",
    the_first_of_two_names_wins: "test_a_name_that_is_not_clear_stays",
    renames_what_the_schema_has: "test_a_name_that_is_not_clear_stays",
    cannot_do_without_aliases: "test_a_name_that_is_not_clear_stays",
    repairs_values_before_names: "test_a_wrong_name_is_replaced_by_alias",
    notes_values_first: "test_a_wrong_name_is_replaced_by_alias",
    every_digit_is_a_number: "test_right_arguments_stay_as_they_are",
}
