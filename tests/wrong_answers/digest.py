"""Plausible wrong answers, each with the test that must catch it."""

import hashlib
import json


def canonical(read, **how):
    return json.dumps(read, **{"sort_keys": True, **how})


def sha(text, how="utf-8", errors="strict"):
    return hashlib.sha256(text.encode(how, errors)).hexdigest()


def fields(tool):
    return [tool.name, tool.description, tool.parameters]


def digests(read=fields, write=canonical, end=sha):
    """Return a digest that makes one of these mistakes."""
    return lambda tool: end(write(read(tool)))


def of_joined_fields(tool):
    schema = canonical(tool.parameters)
    return sha(tool.name + tool.description + schema)


def in_sorted_lists(value):
    if isinstance(value, dict):
        return {key: in_sorted_lists(each) for key, each in value.items()}
    return sorted(value) if isinstance(value, list) else value


def outer_keys_alone(tool):
    schema = {key: tool.parameters[key] for key in sorted(tool.parameters)}
    return sha(json.dumps([tool.name, tool.description, schema]))


OTHER = "test_another_field_is_another_digest"
KEYS = "test_the_order_of_keys_does_not_count"
ALIKE = "test_a_letter_that_looks_alike_counts"
UNREAD = "test_what_the_model_does_not_read_does_not_count"

WRONG = {
    digests(end=lambda text: sha(text)[:32]): "test_it_has_64_digits",
    digests(end=lambda text: hashlib.sha256(text.encode()).digest()): "test_it_has_64_digits",
    digests(read=lambda tool: fields(tool)[1:]): OTHER,
    digests(read=lambda tool: fields(tool)[:2]): OTHER,
    digests(read=lambda tool: [tool.name.lower(), *fields(tool)[1:]]): OTHER,
    digests(write=str): KEYS,
    outer_keys_alone: KEYS,
    digests(read=lambda tool: [*fields(tool)[:2], in_sorted_lists(tool.parameters)]):
        "test_the_order_of_a_list_counts",
    digests(write=lambda read: canonical(read, ensure_ascii=False),
            end=lambda text: sha(text, "ascii", "ignore")): ALIKE,
    of_joined_fields: "test_where_a_field_ends_counts",
    digests(read=lambda tool: [*fields(tool), tool.effect]): UNREAD,
    digests(read=lambda tool: [*fields(tool), str(tool.run)]): UNREAD,
}
