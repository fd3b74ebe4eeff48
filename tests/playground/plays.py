"""What scenarios come to on engines: each is played once for all who look at it."""

from dataclasses import replace
from functools import cache, partial

from workbook.playground.engines import ENGINES, play
from workbook.playground.machines import ByScript, suspicious
from workbook.playground.scenarios import load


@cache
def played(slug, engine, screened=True):
    """Return the trace of a scenario, and the machine that played it, if one did."""
    chosen, person = ENGINES[engine], ByScript(load(slug).guards.answers)
    if chosen.table is None:
        return play(slug, engine), None
    if not screened:
        make = partial(suspicious, screened=False)
        chosen = replace(chosen, play=partial(chosen.play, make=make))
    return play(slug, chosen, person=person), person.machine
