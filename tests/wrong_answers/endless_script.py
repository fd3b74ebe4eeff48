"""Plausible wrong answers to `endless_script`, each with words of its failure."""


def answers_at_last(calls):
    turn = "Thought: again\nAction: Search\nAction Input: price"
    return [turn] * (calls - 1) + ["Final Answer: I give up."] * (calls > 0)


def has_no_action(calls):
    return ["Thought: I have to think about it once more."] * calls


def always_one_turn(calls):
    return ["Action: Search\nAction Input: price"]


WRONG = {
    answers_at_last: "no answer, no crash",
    has_no_action: "plays every turn",
    always_one_turn: "then meets the fuse",
}
