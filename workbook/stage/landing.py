"""The map of the course, with the state of your exercises."""

from workbook.checks.catalogue import Lesson, exercises, lessons
from workbook.checks.parts import state
from workbook.stage.predict import page
from workbook.stage.shown import Shown


def course() -> Shown:
    """Return the lessons as a map: picture, minutes, labs, and what you have passed.

    On top is a link to where you go on. Links are relative to `notebooks/`.
    """
    states: dict[str, list[str]] = {slug: [] for slug in lessons()}
    for slug, exercise in exercises().items():
        states[exercise.lesson].append(state(slug))
    own = [lesson for lesson in lessons().values() if not lesson.lab]
    labs: dict[str, list[Lesson]] = {lesson.slug[:2]: [] for lesson in own}
    for lesson in lessons().values():
        if lesson.lab:
            labs[lesson.slug[:2]].append(lesson)
    return Shown(page("course", own, labs, states, goes_on(own, states)))


def goes_on(own: list[Lesson], states: dict[str, list[str]]) -> Lesson | None:
    """Return the lesson to go on with: the last one begun, or the one after it.

    A lesson is begun with its first passed exercise and done with its last; None: the
    last lesson is done.
    """
    begun = [number for number, each in enumerate(own) if "yours" in states[each.slug]]
    if not begun:
        return own[0]
    done = {*states[own[begun[-1]].slug]} == {"yours"}
    return next(iter(own[begun[-1] + done :]), None)
