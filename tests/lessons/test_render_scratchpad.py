"""What the classic agent adds to its prompt after each step."""

ADD = " I add.\nAction: Calculator\nAction Input: 80+8"


def test_nothing_is_added_before_the_first_step(render_scratchpad):
    """without steps the scratchpad is empty"""
    assert render_scratchpad([]) == ""


def test_a_step_is_the_log_the_observation_and_an_open_thought(render_scratchpad):
    """a step adds the log, then its Observation line, then "Thought:" to go on"""
    assert render_scratchpad([(ADD, "Answer: 88")]) == (
        " I add.\nAction: Calculator\nAction Input: 80+8\n"
        "Observation: Answer: 88\nThought:"
    )


def test_the_steps_stand_in_order(render_scratchpad):
    """the steps follow each other in the order in which they were made"""
    first, second = (" a", "1"), (" b", "2")
    expected = render_scratchpad([first]) + render_scratchpad([second])
    assert render_scratchpad([first, second]) == expected


def test_nothing_of_a_log_is_changed(render_scratchpad):
    """spaces and newlines of a log and of an observation stay as they are"""
    log, observation = "  a\n\n", " 1\n2 "
    scratchpad = render_scratchpad([(log, observation)])
    assert scratchpad.startswith(log), f"it does not begin with the log {log!r}"
    assert observation in scratchpad, f"the observation {observation!r} is not in it"
