"""Plausible wrong answers to `consensus`, each with the test that must catch it."""

from workbook.lessons.self_consistency import Agreed, answer_of, ask_verifier, vote


def why_and_votes(why, tally):
    return f"{why}; {str(tally)}"


def agreed(exits, verify, within_s, *, all_of=len, enough=lambda most, n: 2 * most > n,
           half_of=len, first=True, ask=ask_verifier, say=why_and_votes,
           ask_first=False):  # fmt: skip
    """Agree as one should; each argument makes one mistake."""
    tally = vote([answer_of(each) for each in exits])
    if not tally.votes:
        if ask_first:
            ask(verify, exits, tally, within_s)
        return Agreed(None, "none", str(tally), tally)
    top, most = tally.votes[0]
    if most == all_of(exits) and first:
        return Agreed(top, "unanimous", str(tally), tally)
    chosen, why = ask(verify, exits, tally, within_s)
    why = say(why, tally)
    if chosen is not None:
        return Agreed(chosen, "verifier", why, tally)
    if enough(most, half_of(exits)):
        return Agreed(top, "majority", why, tally)
    return Agreed(None, "none", why, tally)


def answered(exits):
    return sum(isinstance(answer_of(each), str) for each in exits)


def agrees(**mistake):
    """Return a function that makes one of these mistakes."""

    def consensus(exits, verify=None, within_s=30.0):
        return agreed(exits, verify, within_s, **mistake)

    return consensus


def those_that_did_not_fail(exits):
    return sum(not isinstance(answer_of(each), Exception) for each in exits)


def votes_alone(why, tally):
    return str(tally)


def why_alone(why, tally):
    return why


def takes_the_verifiers_spelling(verify, exits, tally, within_s):
    chosen, why = ask_verifier(verify, exits, tally, within_s)
    return (verify(exits) if chosen else None), why


def asks_nobody(verify, exits, tally, within_s):
    return None, "no verifier"


def believes_the_verifier(verify, exits, tally, within_s):
    return (verify(exits), "it says so") if verify else (None, "no verifier")


def shows_it_the_answers_alone(verify, exits, tally, within_s):
    given = [each for each in exits if isinstance(answer_of(each), str)]
    return ask_verifier(verify, given, tally, within_s)


WRONG = {
    agrees(all_of=answered): "test_all_runs_means_all",
    agrees(half_of=answered): "test_half_is_not_enough",
    agrees(enough=lambda most, n: 2 * most >= n): "test_half_is_not_enough",
    agrees(enough=lambda most, n: 3 * most >= 2 * n): "test_more_than_half_of_all_runs",
    agrees(all_of=those_that_did_not_fail): "test_all_runs_means_all",
    agrees(ask=takes_the_verifiers_spelling): "test_the_verifier_chooses",
    agrees(say=votes_alone): "test_an_inconclusive_verifier_decides_nothing",
    agrees(say=why_alone): "test_how_it_was_counted_is_said",
    agrees(ask_first=True): "test_nobody_answered",
    agrees(first=False): "test_what_all_runs_say",
    agrees(ask=asks_nobody): "test_the_verifier_chooses",
    agrees(ask=believes_the_verifier): "test_an_inconclusive_verifier_decides_nothing",
    agrees(ask=shows_it_the_answers_alone): "test_the_verifier_sees_the_runs",
}
