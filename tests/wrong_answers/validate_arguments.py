"""Plausible wrong answers to `validate_arguments`, with the tests that catch them."""

import jsonschema_rs


def _place(error):
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.instance_path)
    return "".join(["arguments", *parts])


def stops_at_the_first(schema, arguments):
    """Uses the function that raises: one problem at a time."""
    try:
        jsonschema_rs.validate({**schema, "additionalProperties": False}, arguments)
    except jsonschema_rs.ValidationError as error:
        return [f"{_place(error)}: {error.message}"]
    return []


def trusts_the_schema(schema, arguments):
    """Forgets that a schema lets unknown fields pass unless it says otherwise."""
    errors = jsonschema_rs.Draft202012Validator(schema).iter_errors(arguments)
    return sorted(f"{_place(e)}: {e.message}" for e in errors)


def without_the_place(schema, arguments):
    """Says what is wrong, but not where."""
    closed = {**schema, "additionalProperties": False}
    errors = jsonschema_rs.Draft202012Validator(closed).iter_errors(arguments)
    return sorted(error.message for error in errors)


def a_position_like_a_name(schema, arguments):
    """Joins the place with dots, so that a position in a list looks like a name."""
    closed = {**schema, "additionalProperties": False}
    errors = jsonschema_rs.Draft202012Validator(closed).iter_errors(arguments)
    return sorted(
        f"{'.'.join(map(str, ['arguments', *e.instance_path]))}: {e.message}"
        for e in errors
    )


def asks_python(schema, arguments):
    """Compares Python types by hand, where True is an int."""
    kinds = {"integer": int, "string": str, "number": (int, float), "array": list}
    found = []
    for name, part in schema["properties"].items():
        if name in arguments and not isinstance(arguments[name], kinds[part["type"]]):
            value, kind = arguments[name], part["type"]
            found.append(f'arguments.{name}: "{value}" is not of type "{kind}"')
    return sorted(found)


WRONG = {
    stops_at_the_first: "test_all_problems_come_at_once_and_in_order",
    trusts_the_schema: "test_an_unknown_argument_is_a_problem",
    without_the_place: "test_a_wrong_type_is_named_with_its_place",
    a_position_like_a_name: "test_the_place_inside_a_list_is_named",
    asks_python: "test_a_truth_value_is_no_integer",
}
