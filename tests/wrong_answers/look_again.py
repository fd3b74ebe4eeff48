"""Plausible wrong answers to `look_again`, each with the test that must catch it."""


def looks(*, first=(), keep=True, once=False, last=False, refuse=True, extra=0,
          silent=False, usual=2, after=False):  # fmt: skip
    """Return a function that looks again as one should, but for one mistake."""

    def look_again(attempt, objection, attempts=usual):
        if attempts < 1 and refuse:
            raise ValueError(f"attempts is {attempts}")
        notes, answer, found = [*first], None, None
        for _ in range(attempts + extra):
            answer = attempt([*notes])
            if silent and answer is None:
                notes.append("no answer")
                continue
            note = objection(answer)
            if note is None:
                if after:
                    found = answer if found is None else found
                    continue
                return answer
            notes = [*notes, note] if keep else [note]
        return found if after else answer if last else None

    return look_again


WRONG = {
    looks(first=("Look again.",)): "test_the_first_attempt_has_no_notes",
    looks(after=True): "test_an_answer_without_objection_is_returned",
    looks(keep=False): "test_an_objection_is_a_note",
    looks(extra=1): "test_attempts_have_an_end",
    looks(usual=3): "test_attempts_have_an_end",
    looks(last=True): "test_an_answer_that_failed_is_none",
    looks(silent=True): "test_no_answer_is_looked_at_like_others",
    looks(refuse=False): "test_no_attempts_are_refused",
}
