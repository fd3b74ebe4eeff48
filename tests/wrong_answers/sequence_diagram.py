"""Plausible wrong answers to `sequence_diagram`, with the tests that catch them."""

from workbook.langchain_trace.diagram import label, sequence_diagram, tool_ids


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
    asked = ("model_request", "model_turn")
    bare = [{k: v for k, v in e.items() if k != "parent"} for e in trace]
    pairs = zip(trace, bare, strict=True)
    return sequence_diagram([e if e["kind"] in asked else b for e, b in pairs])


def draws_every_arrow_the_same(trace):
    return sequence_diagram(trace).replace("-->>", "->>")


def uses_the_tools_name(trace):
    lines = sequence_diagram(trace).split("\n")
    for name, id_ in tool_ids(trace).items():
        lines[4:] = [
            line.replace(id_, name) if ">>" in line else line for line in lines[4:]
        ]
    return "\n".join(lines)


def draws_transitions_too(trace):
    lines = sequence_diagram(trace).split("\n")
    moves = [event for event in trace if event["kind"] == "transition"]
    return "\n".join(lines + [f"    Agent->>Agent: {label(event)}" for event in moves])


def forgets_to_escape(trace):
    text = sequence_diagram(trace)
    return text.replace("#59;", ";").replace("#34;", '"').replace("#35;", "#")


WRONG = {
    gives_the_hidden_call_to_the_agent: "test_the_hidden_call_comes_from_the_tool",
    gives_the_hidden_call_to_the_first_tool: "test_the_hidden_call_comes_from_the_tool",
    gives_a_call_inside_a_tool_to_the_agent: "test_the_hidden_call_comes_from_the_tool",
    draws_every_arrow_the_same: "test_a_run_without_tools",
    uses_the_tools_name: "test_a_tool_is_called_and_answers",
    draws_transitions_too: "test_a_transition_is_no_arrow",
    forgets_to_escape: "test_an_error_says_so",
}
