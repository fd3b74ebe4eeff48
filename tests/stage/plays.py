"""Each scenario is played once on an engine, for all tests that look at it."""

from functools import cache

from workbook.stage.engines import LOOPS, play
from workbook.stage.machines import machine_for


@cache
def played(slug, engine, screened=True):
    """Return the trace of a scenario, and the machine that played it, if one did."""
    if engine in LOOPS:
        return play(slug, engine), None
    made, how = [], {} if screened else {"screened": False}

    def make(scenario, home):
        made.append(machine_for(scenario, home, engine, **how))
        return made[0]

    return play(slug, engine, make=make), made[0]
