"""Plausible wrong answers to `validate_arguments`, with the tests that catch them."""

import jsonschema


def stops_at_the_first(schema, arguments):
    """Uses the function that raises: one problem at a time."""
    try:
        jsonschema.validate(arguments, {**schema, "additionalProperties": False})
    except jsonschema.ValidationError as error:
        return [f"{error.json_path.replace('$', 'arguments', 1)}: {error.message}"]
    return []


def trusts_the_schema(schema, arguments):
    """Forgets that a schema lets unknown fields pass unless it says otherwise."""
    errors = jsonschema.Draft202012Validator(schema).iter_errors(arguments)
    return sorted(
        f"{e.json_path.replace('$', 'arguments', 1)}: {e.message}" for e in errors
    )


def without_the_place(schema, arguments):
    """Says what is wrong, but not where."""
    closed = {**schema, "additionalProperties": False}
    errors = jsonschema.Draft202012Validator(closed).iter_errors(arguments)
    return sorted(error.message for error in errors)


def asks_python(schema, arguments):
    """Compares Python types by hand, where True is an int."""
    kinds = {"integer": int, "string": str, "number": (int, float), "array": list}
    found = []
    for name, part in schema["properties"].items():
        if name in arguments and not isinstance(arguments[name], kinds[part["type"]]):
            value, kind = arguments[name], part["type"]
            found.append(f"arguments.{name}: {value!r} is not of type {kind!r}")
    return sorted(found)


WRONG = {
    stops_at_the_first: "test_all_problems_come_at_once_and_in_order",
    trusts_the_schema: "test_an_unknown_argument_is_a_problem",
    without_the_place: "test_a_wrong_type_is_named_with_its_place",
    asks_python: "test_a_truth_value_is_no_integer",
}
