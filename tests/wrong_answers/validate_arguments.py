"""Plausible wrong answers to `validate_arguments`, with the tests that catch them."""

from jsonschema_rs import Draft202012Validator


def _errors(schema, arguments, **more):
    return Draft202012Validator({**schema, **more}).iter_errors(arguments)


def _line(error):
    places = [f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.instance_path]
    return f"arguments{''.join(places)}: {error.message}"


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
    without_the_place: "test_a_wrong_type_is_named_with_its_place",
    a_position_like_a_name: "test_the_place_inside_a_list_is_named",
    takes_true_for_one: "test_a_truth_value_is_no_integer",
}
