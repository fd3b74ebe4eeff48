"""Plausible wrong answers to `sequence_diagram`, with the tests that catch them."""

import re

from workbook.lessons.langchain_debug_trace import head, label, sequence_diagram, tool_ids


def names_no_tools_at_the_top(trace):
    lines = sequence_diagram(events := list(trace)).split("\n")
    return "\n".join(head([]) + lines[len(head(events)) :])


def gives_the_hidden_call_to_the_agent(trace):
    events = [{key: e[key] for key in e if key != "parent"} for e in trace]
    return sequence_diagram(events)


def gives_the_hidden_call_to_the_first_tool(trace):
    events = list(trace)
    calls = (event["seq"] for event in events if event["kind"] == "tool_call")
    first = next(calls, 0)
    return sequence_diagram(
        [e | {"parent": first} if "parent" in e else e for e in events]
    )


def gives_a_call_inside_a_tool_to_the_agent(trace):
    asked, events = ("model_request", "model_turn"), list(trace)
    bare = [{k: v for k, v in e.items() if k != "parent"} for e in events]
    pairs = zip(events, bare, strict=True)
    return sequence_diagram([e if e["kind"] in asked else b for e, b in pairs])


def draws_the_answer_as_a_question(trace):
    return sequence_diagram(trace).replace("Agent-->>User", "Agent->>User")


def draws_an_observation_as_a_call(trace):
    return re.sub(r"(T\d+)-->>Agent", r"\1->>Agent", sequence_diagram(trace))


def uses_the_tools_name(trace):
    lines = sequence_diagram(events := list(trace)).split("\n")
    for name, id_ in tool_ids(events).items():
        lines[4:] = [
            line.replace(id_, name) if ">>" in line else line for line in lines[4:]
        ]
    return "\n".join(lines)


def draws_transitions_too(trace):
    lines = sequence_diagram(events := list(trace)).split("\n")
    moves = [event for event in events if event["kind"] == "transition"]
    return "\n".join(lines + [f"    Agent->>Agent: {label(event)}" for event in moves])


def writes_a_transition_without_an_arrow(trace):
    lines = sequence_diagram(events := list(trace)).split("\n")
    moves = [event for event in events if event["kind"] == "transition"]
    return "\n".join(lines + [f"    None: {label(event)}" for event in moves])


def forgets_to_escape(trace):
    text = sequence_diagram(trace)
    return text.replace("#59;", ";").replace("#34;", '"').replace("#35;", "#")


def reads_the_trace_twice(trace):
    lines = head(trace)
    return "\n".join(lines + sequence_diagram(trace).split("\n")[len(lines) :])


WRONG = {
    gives_the_hidden_call_to_the_agent: "test_the_hidden_call_comes_from_the_tool",
    gives_the_hidden_call_to_the_first_tool: "test_the_hidden_call_comes_from_the_tool",
    gives_a_call_inside_a_tool_to_the_agent: "test_the_hidden_call_comes_from_the_tool",
    names_no_tools_at_the_top: "test_the_head_comes_first",
    draws_the_answer_as_a_question: "test_a_run_without_tools",
    draws_an_observation_as_a_call: "test_a_tool_is_called_and_answers",
    uses_the_tools_name: "test_a_tool_is_called_and_answers",
    draws_transitions_too: "test_a_transition_is_no_arrow",
    writes_a_transition_without_an_arrow: "test_a_transition_is_no_arrow",
    forgets_to_escape: "test_an_arrow_has_its_label",
    reads_the_trace_twice: "test_the_trace_may_be_read_only_once",
}
