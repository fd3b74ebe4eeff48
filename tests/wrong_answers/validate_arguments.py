"""Plausible wrong answers to `validate_arguments`, with the tests that catch them."""

from jsonschema_rs import Draft202012Validator


def _errors(schema, arguments, **more):
    return Draft202012Validator({**schema, **more}).iter_errors(arguments)


def _line(error):
    places = [f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.instance_path]
    return f"arguments{''.join(places)}: {error.message}"


def wants_every_argument(schema, arguments):
    names = list(schema["properties"])
    errors = _errors(schema, arguments, additionalProperties=False, required=names)
    return sorted(map(_line, errors))


def forgets_what_is_required(schema, arguments):
    errors = _errors(schema, arguments, additionalProperties=False, required=[])
    return sorted(map(_line, errors))


def reads_anything_as_names_and_values(schema, arguments):
    errors = _errors(schema, dict(arguments), additionalProperties=False)
    return sorted(map(_line, errors))


def trusts_the_schema(schema, arguments):
    return sorted(map(_line, _errors(schema, arguments)))


def stops_at_the_first(schema, arguments):
    return [*map(_line, _errors(schema, arguments, additionalProperties=False))][:1]


def without_the_place(schema, arguments):
    errors = _errors(schema, arguments, additionalProperties=False)
    return sorted(f"arguments: {error.message}" for error in errors)


def a_position_like_a_name(schema, arguments):
    errors = _errors(schema, arguments, additionalProperties=False)
    places = [(".".join(["arguments", *map(str, e.instance_path)]), e) for e in errors]
    return sorted(f"{place}: {error.message}" for place, error in places)


def takes_true_for_one(schema, arguments):
    """Takes what Python takes for an integer."""
    if isinstance(arguments, dict):
        arguments = {n: int(v) if v is True else v for n, v in arguments.items()}
    return sorted(map(_line, _errors(schema, arguments, additionalProperties=False)))


WRONG = {
    trusts_the_schema: "test_an_unknown_argument_is_a_problem",
    stops_at_the_first: "test_all_problems_come_at_once_and_in_order",
    wants_every_argument: "test_right_arguments_have_no_problems",
    forgets_what_is_required: "test_a_missing_argument_is_a_problem",
    reads_anything_as_names_and_values: "test_arguments_are_an_object",
    without_the_place: "test_a_problem_has_its_place",
    a_position_like_a_name: "test_a_problem_has_its_place",
    takes_true_for_one: "test_a_truth_value_is_no_integer",
}
