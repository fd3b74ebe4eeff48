"""Plausible wrong answers to `consensus`, each with the test that must catch it."""

from workbook.voting.consensus import Agreed, answer_of, ask_verifier, counted, vote


def answered(exits):
    return sum(isinstance(answer_of(each), str) for each in exits)


def agreed(exits, verify, within_s, *, all_of=len, half_of=len, least=1, first=True,
           ask=ask_verifier, told=True):  # fmt: skip
    """Agree as one should; each argument makes one mistake."""
    tally = vote([answer_of(each) for each in exits])
    if not tally.votes:
        return Agreed(None, "none", counted(tally), tally)
    top, most = tally.votes[0]
    if most == all_of(exits) and first:
        return Agreed(top, "unanimous", counted(tally), tally)
    chosen, why = ask(verify, exits, tally, within_s)
    why = f"{why}; {counted(tally)}" if told else "the votes decide"
    if chosen is not None:
        return Agreed(chosen, "verifier", why, tally)
    if 2 * most >= half_of(exits) + least:
        return Agreed(top, "majority", why, tally)
    return Agreed(None, "none", why, tally)


def answered(exits):
    return sum(isinstance(answer_of(each), str) for each in exits)


def agrees(**mistake):
    """Return a function that makes one of these mistakes."""

    def consensus(exits, verify=None, within_s=30.0):
        return agreed(exits, verify, within_s, **mistake)

    return consensus


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
    agrees(least=0): "test_half_is_not_enough",
    agrees(first=False): "test_what_all_runs_say",
    agrees(ask=asks_nobody): "test_the_verifier_chooses",
    agrees(ask=believes_the_verifier): "test_an_inconclusive_verifier_decides_nothing",
    agrees(ask=shows_it_the_answers_alone): "test_the_verifier_sees_the_runs",
    agrees(told=False): "test_how_it_was_counted_is_said",
}
