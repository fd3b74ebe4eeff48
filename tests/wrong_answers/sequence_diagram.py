"""Plausible wrong answers to `sequence_diagram`, with the tests that catch them."""

from workbook.langchain_trace.diagram import head, label, tool_ids


def _draw(trace, agent_of, arrows, name_of=None):
    events = list(trace)
    ids = tool_ids(events)
    lines = head(events)
    for event in events:
        agent = agent_of(event, events, ids)
        tool = (name_of or ids.get)(event.get("tool", ""))
        arrow = arrows(event, agent, tool)
        if arrow:
            lines.append(f"    {arrow}: {label(event)}")
    return "\n".join(lines)


def _arrows(event, agent, tool):
    return {
        "run_started": f"User->>{agent}",
        "model_request": f"{agent}->>Model",
        "model_turn": f"Model-->>{agent}",
        "tool_call": f"{agent}->>{tool}",
        "observation": f"{tool}-->>{agent}",
        "run_finished": f"{agent}-->>User",
    }.get(event["kind"])


def _asker(event, events, ids):
    return ids[events[event["parent"]]["tool"]] if "parent" in event else "Agent"


def gives_the_hidden_call_to_the_agent(trace):
    return _draw(trace, lambda event, events, ids: "Agent", _arrows)


def draws_every_arrow_the_same(trace):
    def solid(event, agent, tool):
        arrow = _arrows(event, agent, tool)
        return arrow and arrow.replace("-->>", "->>")

    return _draw(trace, _asker, solid)


def uses_the_tools_name(trace):
    return _draw(trace, _asker, _arrows, name_of=str)


def draws_transitions_too(trace):
    def more(event, agent, tool):
        return _arrows(event, agent, tool) or "Agent->>Agent"

    return _draw(trace, _asker, more)


WRONG = {
    gives_the_hidden_call_to_the_agent: "test_the_hidden_call_comes_from_the_tool",
    draws_every_arrow_the_same: "test_a_run_without_tools",
    uses_the_tools_name: "test_a_tool_is_called_and_answers",
    draws_transitions_too: "test_a_transition_is_no_arrow",
}
